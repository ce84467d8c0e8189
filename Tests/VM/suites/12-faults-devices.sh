#!/bin/bash
# What goes wrong with devices, disks and pipes: each fault has its exit code and a sentence, each file is finished.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

first=$(camera 1)
first_id=v4l2:platform:vivid-000-video-index0
loop=hw:Loopback,1
small() { vivid_reset "$first" 3 "${1:-160x120}" YUYV 25; }
# Pictures that cost an emulated processor little; 10-record has H.264.
video=(--camera "$first" --video-format YUYV:160x120 --video-codec mjpeg)

# refused CODE PATTERN OPTION...: a recording ends with that code and sentence, and leaves no file behind
refused() {
  local status=0
  rm -f "$work/refused.mkv"
  timeout 120 capturectl record "${@:3}" "$work/refused.mkv" 2>"$work/stderr" || status=$?
  cat "$work/stderr"
  [[ ! -e $work/refused.mkv ]] || { echo "a file was left behind"; return 1; }
  ((status == $1)) || { echo "exit status $status, not $1"; return 1; }
  grep -qE -- "$2" "$work/stderr" || { echo "it does not say '$2'"; return 1; }
}

it "captured serves" serve
((not_ok_count == 0)) || finish

# What does not exist.
it "the webcam is set" vivid_reset "$first" 0 640x480 YUYV 15
it "unknown camera" refused 66 "no camera '/dev/video99'" --camera /dev/video99 --microphone none
it "unknown microphone" refused 66 "no microphone 'hw:9,0'" --camera none --microphone hw:9,0
it "unknown preset" refused 64 "huge" --camera "$first" --preset huge
it "unknown container" refused 64 "avi" --camera "$first" --format avi
it "a format put wrongly" refused 64 "YUYV:1280x720@30" --camera "$first" --video-format YUYV:640
it "a pixel format that it does not have" refused 65 "offers .*YUYV" --camera "$first" --microphone none --video-format MJPG
it "a size that it does not have" refused 65 "offers .*640x480" --camera "$first" --microphone none --video-format 642x482
it "a rate that it does not have" refused 65 "offers" --camera "$first" --microphone none --video-format 1280x720@60
it "unknown session" expect_exit 66 capturectl stop 9999

# In use.
it "the camera shows bars" small
v4l2-ctl -d "$first" --stream-mmap >/dev/null 2>&1 &
holder=$!
it "another program has the camera" wait_for 20 fails v4l2-ctl -d "$first" --set-fmt-video=width=640,height=480
it "a camera in use by it" refused 75 "in use by v4l2-ctl \(pid $holder\)" --camera "$first" --microphone none --video-format 160x120
kill $holder; wait $holder 2>/dev/null
it "a tone sounds" play_tone 1000 300
arecord -q -D hw:Loopback,1,0 -f S16_LE -c 2 -r 48000 /dev/null &
holder=$!
it "another program has the microphone" wait_for 20 grep -q RUNNING /proc/asound/Loopback/pcm1c/sub0/status
it "a microphone in use by it" refused 75 "arecord" --camera none --microphone $loop
kill $holder; wait $holder 2>/dev/null
it "the camera is set again" small
it "a session has the camera in one format" begin_record "$work/one.mkv" "${video[@]}" --microphone none --duration 600
it "another format meanwhile" refused 75 "YUYV 160x120" --camera "$first" --microphone none --video-format NV12:160x120
kill -INT $recording
it "Ctrl-C finishes the file" record_ends 0

# Where it goes to.
full() { # CONTAINER OPTION...
  full_disk "$work/full" 96K || return 1
  timeout 120 capturectl record --json "${@:2}" --duration 60 "$work/full/out.$1" >/dev/null 2>"$work/stderr"
  local status=$?
  tail -n 1 "$work/stderr"
  ((status == 74)) && grep -qi 'full\|space' "$work/stderr" && playable "$work/full/out.$1"
  status=$?
  umount "$work/full"
  return $status
}
it "Matroska on a full disk" full mkv --camera "$first" --video-format YUYV:160x120 --microphone $loop
it "MP4 on a full disk" full mp4 --camera "$first" --video-format YUYV:160x120 --microphone $loop
it "WAV on a full disk" full wav --microphone $loop
no_room() {
  full_disk "$work/full" 8K && ! cat /dev/zero >"$work/full/rest" || return 1
  says 'no space left' expect_exit 74 capturectl start "$@" && [[ $(ls "$work/full") == rest ]] && umount "$work/full"
}
it "nothing starts without room for a page" no_room --camera "$first" --microphone none "$work/full/out.mkv"
closed_pipe() {
  "${@:2}" | head -c 200000 >/dev/null
  ((PIPESTATUS[0] == $1)) || { echo "exit status ${PIPESTATUS[0]}, not $1"; return 1; }
}
it "frames into a pipe that is closed end well" closed_pipe 0 timeout 120 capturectl frames --camera "$first" --video-format YUYV:160x120
it "samples into a pipe that is closed end well" closed_pipe 0 timeout 120 capturectl listen --microphone $loop

# Frames that the driver loses or spoils.
it "a fifth of the frames is lost" vivid_fault "$first" percentage_of_dropped_buffers 20
# A camera that is held up outside of the six seconds tells of more than they have; a loss that is not told is less.
lossy() {
  local try
  for try in 1 2 3 4 5 6; do
    record "$work/lossy.mkv" "${video[@]}" --microphone none --duration 6 || return 1
    (($(value frames) + $(dropped) > 25 * 6)) && ! accounted 25 6 || return 0
  done
}
it "it is recorded" lossy
it "the losses are counted" test "$(value drops.sequence-gap)" -gt 10
it "and nothing else is missing" accounted 25 6
it "ffprobe counts the rest" test "$(frame_count "$work/lossy.mkv")" = "$(value frames)"
it "no frame is lost any more" vivid_fault "$first" percentage_of_dropped_buffers 0
camera_runs() { begin_record "$work/fault.mkv" "${video[@]}" --microphone none --duration "${1:-600}"; }
counted() { facts capturectl status --json "$(newest_session)" && grep -qE 'drops\.device-error=[1-9]' "$work/facts"; }
it "a recording runs" camera_runs
it "a frame is spoiled" vivid_fault "$first" inject_v4l2_buf_flag_error
it "which is counted" wait_for 60 counted
kill -INT $recording
it "the recording went on, and ends as asked" record_ends 0
it "without it" is drops.device-error 1
it "streaming cannot start" vivid_fault "$first" inject_vidioc_streamon_error
it "that is told" refused 74 "does not start" "${video[@]}" --microphone none
it "the next one works" camera_runs
it "streaming breaks off" vivid_fault "$first" inject_fatal_streaming_error
it "the file is finished, 74" record_ends 74 "failed while streaming"

# Sound stays where it belongs: a beep a second, and the daemon held for longer than the driver's buffer.
hold() { kill -STOP "$(main_pid captured)" && sleep 2 && kill -CONT "$(main_pid captured)"; }
# The largest buffer, as in 14-sync. If the player falls behind, its beeps are late: then it plays anew.
play() {
  aplay --buffer-time=2500000 -D "hw:Loopback,0,$2" "$1" 2>"$work/player" &
  tone_player=$!
  wait_for 20 loop_plays "$2"
}
beeping() {
  local try
  for try in 1 2 3 4 5 6; do
    stop_tone
    play_beeps 120 && begin_record "$work/beeping.wav" --camera none --microphone $loop --duration 9 &&
      wait_for 30 larger "$work/beeping.wav" 200000 && hold && record_ends 0 || return 1
    grep -q underrun "$work/player" || return 0
  done
}
it "beeps are recorded; two seconds in, the daemon is held; the recording ends as asked" beeping
it "the overrun is counted" test "$(value inputs.microphone.drops.overrun || echo 0)" -gt 0
it "its sound is silence" test "$(value silence)" -gt 24000
it "the length is true" within "$(value samples)" 432000 1
# Each beep is a whole number of seconds behind the first. The one in which the silence ends begins there, and the one in
# which the recording begins is not one of them: when it began is not in the file.
in_place() {
  onsets "$work/beeping.wav" | tee "$work/onsets"
  awk '$1 < 0.01 { next } !count++ { first = $1 } { d = $1 - first; e = d - int(d + 0.5); if (e < 0) e = -e; if (e > 0.02 && d - last < 1.5) bad = 1; last = d }
    END { exit !(count >= 4 && last > 6 && !bad) }' "$work/onsets"
}
it "what follows is in its place" in_place
stop_tone

# Unplugged. Two recordings, one that its command waits for and one that goes on by itself.
it "a tone sounds again" play_tone 1000 300
capturectl monitor --json >"$work/monitor" &
monitor=$!
background() { id=$(capturectl start "${video[@]}" --microphone none --overwrite "$work/bg.mkv"); }
it "a session runs by itself" background
it "a recording with sound runs" begin_record "$work/gone.mkv" "${video[@]}" --microphone $loop --audio-codec flac --duration 600
it "both go on for a second" wait_for 30 larger "$work/gone.mkv" 20000
it "the cameras are unplugged" unplug_cameras
it "the file is finished, 74" record_ends 74 "went away"
it "the other session is interrupted" wait_for 60 session_is "$id" interrupted
it "it is told of" facts capturectl status --json "$id"
it "and why" is reasonCode DeviceLost
it "its file plays" playable "$work/bg.mkv"
it "no camera is listed" wait_for 60 fails says vivid capturectl devices
it "a signal told it" wait_for 60 grep -q '"deviceRemoved"' "$work/monitor"
it "the cameras are plugged in again" plug_cameras
it "they are listed" wait_for 60 says "$first_id" capturectl devices
it "a signal told it" wait_for 60 grep -q '"deviceAdded"' "$work/monitor"
kill $monitor
first=$(camera 1)
it "the camera works" small 320x240
it "by the name it had" capturectl photo --overwrite --camera $first_id --video-format YUYV:320x240 "$work/back.png"
it "it shows bars" bars "$work/back.png"
it "sound is recorded" begin_record "$work/gone.flac" --camera none --microphone $loop --duration 600
it "the microphone is unplugged" unplug_sound snd_aloop
it "the file is finished, 74" record_ends 74 "unplugged"
it "no such microphone is listed" wait_for 30 fails says Loopback capturectl devices
it "it is plugged in again" plug_sound snd_aloop
it "it is listed" wait_for 20 says Loopback capturectl devices
it "the daemon never went down" says '^NRestarts=0$' systemctl show -p NRestarts captured
finish
