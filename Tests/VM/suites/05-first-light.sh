#!/bin/bash
# The installed daemon on real drivers, without a demand on speed: what has to hold on a kernel that is emulated, too.
# machine: --systemd --vivid 2 --timeout 1500 --karg vivid.multiplanar=1,2
# flavours: stock fast
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

first=$(camera 1) second=$(camera 2)
loop=hw:Loopback,1

photo() { # FILE OPTION...
  rm -f "$work/$1"
  capturectl photo "${@:2}" "$work/$1" && bars "$work/$1"
}
frames() { capturectl frames --camera "$first" --video-format YUYV:320x240 --count 5 --format "$1" >"$work/$2"; }
answer() { capturectl auth set "$(myself)" camera "$1"; }

it "captured is installed and serves" serve
((not_ok_count == 0)) || finish
it "cameras and microphones are listed" facts capturectl devices --json
it "a camera's node is an alias" grep -qE "aliases\.[0-9]+=$first$" "$work/facts"
it "formats are listed with sizes and rates" says '640x480 .*15.* fps' capturectl formats "$first"
it "the units are not exposed" says 'exposure level for captured.service: (0|1|2\.0)' \
  systemd-analyze security captured.service
it "the interfaces are on the bus" says 'Capture1\.Manager +interface' \
  busctl introspect org.capturekit.Capture1 /org/capturekit/Capture1
it "the daemon links no codec" fails grep -q libavcodec "/proc/$(pidof captured)/maps"

it "the camera shows bars" vivid_reset "$first" 3 320x240 YUYV 25
it "photo: YUYV as JPEG" photo yuyv.jpg --camera "$first" --video-format YUYV:320x240
it "photo: Bayer as PNG" photo bayer.png --camera "$first" --video-format BA81:320x240
it "the multi-planar camera shows bars" vivid_reset "$second" 3 320x240 NM12 25
it "photo: two planes in memory of their own" photo nm12.png --camera "$second" --video-format NM12:320x240
it "frames: Y4M" frames y4m pipe.y4m
it "frames: five of them" test "$(frame_count "$work/pipe.y4m")" = 5
it "frames: raw" frames raw pipe.yuv
it "frames: the camera's bytes" test "$(stat -c %s "$work/pipe.yuv")" = $((5 * 320 * 240 * 2))
it "the camera shows bars again" vivid_reset "$first" 3 320x240 YUYV 25
it "picture and sound are recorded" \
  record "$work/out.mkv" --camera "$first" --video-format YUYV:320x240 --microphone $loop --duration 3
it "the picture is H.264" has "$work/out.mkv" video codec_name h264
it "the sound is AAC" has "$work/out.mkv" audio codec_name aac
it "ffprobe counts the frames that were reported" test "$(frame_count "$work/out.mkv")" = "$(value frames)"

it "an unknown camera is 66" expect_exit 66 capturectl photo --camera nothing "$work/none.jpg"
it "root says no" answer denied
it "the denied program exits with 77" expect_exit 77 capturectl photo --camera "$first" "$work/denied.jpg"
it "and leaves no file" test ! -e "$work/denied.jpg"
it "the daemon holds no capture node" fails grep -q /dev/video <(ls -l "/proc/$(pidof captured)/fd")
it "the answer survives a restart" systemctl restart captured
it "it still exits with 77" expect_exit 77 capturectl photo --camera "$first" "$work/denied.jpg"
it "root says yes" answer authorized
it "and the camera opens again" photo again.jpg --camera "$first" --video-format YUYV:320x240
finish
