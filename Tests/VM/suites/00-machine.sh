#!/bin/bash
# The machine itself and the facts that every other suite relies on.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

cameras() {
  it "vivid gives two cameras" camera 2
  it "vivid takes a format" vivid_reset "$(camera 1)" 0 320x180 YUYV
  it "vivid streams ten frames" \
    v4l2-ctl -d "$(camera 1)" --stream-mmap --stream-count=10 --stream-to="$work/frames.yuv"
  it "each frame is whole" test "$(stat -c %s "$work/frames.yuv")" = $((10 * 320 * 180 * 2))
  on_host "$work/frames.yuv" ffmpeg -v error -f rawvideo -pixel_format yuyv422 -video_size 320x180 -i {} \
    -c:v ffv1 -f matroska - >"$work/frames.mkv"
  it "ffprobe counts the frames" test "$(frame_count "$work/frames.mkv")" = 10
  it "the picture shows the colour bars" bars "$work/frames.mkv"
  it "vivid refuses what it does not have" fails vivid_reset "$(camera 1)" 0 320x240 YUYV
  it "HDMI gives any size" vivid_reset "$(camera 2)" 3 320x240 NV12
  it "HDMI runs at 60 frames a second" says '60\.00 frames per second' v4l2-ctl -d "$(camera 2)" --query-dv-timings
  it "a failing STREAMON is a failure" failing_streamon
}
failing_streamon() {
  vivid_fault "$(camera 1)" inject_vidioc_streamon_error &&
    says 'VIDIOC_STREAMON returned -1' v4l2-ctl -d "$(camera 1)" --stream-mmap --stream-count=2
}

microphones() {
  it "a tone plays into the loop" play_tone 1000 20
  it "the loop records" arecord -q -D hw:Loopback,1,0 -f S16_LE -c 2 -r 48000 -d 2 "$work/tone.wav"
  it "the tone has its frequency" within "$(tone "$work/tone.wav")" 1000 1
  stop_tone
  it "the loop's clock can drift" drift 100
  drift 0
}

system() {
  it "systemd runs without a failed unit" says '0 loaded units' systemctl --failed
  it "D-Bus answers" says org.freedesktop.systemd1 busctl list
  it "udev names a camera by its path" test -L /dev/v4l/by-path/platform-vivid.0-video-index0
  it "udev names a sound card by its path" test -L /dev/snd/by-path/platform-snd_aloop.0
  it "the camera belongs to group video" test "$(stat -c %G "$(camera 1)")" = video
  it "cameras can be unplugged" unplug_cameras
  it "their links go with them" wait_for 20 fails test -e /dev/v4l/by-path/platform-vivid.0-video-index0
  it "and plugged in again" plug_cameras
  it "and their links come back" wait_for 20 test -e /dev/v4l/by-path/platform-vivid.0-video-index0
}

people() {
  it "alice is nobody special" says '^uid=1000\(alice\) gid=1000\(alice\) groups=1000\(alice\)$' as alice id
  it "alice cannot write root's files" fails as alice touch /etc/alice
  it "alice cannot read the shadow" fails as alice cat /etc/shadow
  it "alice cannot open a camera" fails as alice v4l2-ctl -d "$(camera 1)" --all
  it "alice has a user manager" user_manager alice
  it "alice has a session bus" says org.freedesktop.systemd1 as alice busctl --user list
  it "bob can log in at the seat" log_in bob
  it "bob's session is active" wait_for 20 says '^Active=yes' loginctl show-session "$(session_of bob)"
  it "polkit starts" systemctl start polkit
}

cameras
microphones
system
people
log_out bob
finish
