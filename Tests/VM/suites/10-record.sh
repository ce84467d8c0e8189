#!/bin/bash
# Records what real drivers deliver, and reads it back: codecs, frames, colours, tones.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

first=$(camera 1) second=$(camera 2)
loop=hw:Loopback,1

# A fast kernel takes 720p of HDMI, on one processor, on which cameras, recorder and test take turns. An emulated one takes a
# small picture of the webcam's less often, and sound that is cheap to encode.
input=3 size=1280x720 fps=24 at='' allowed=2 rate=48000
[[ $flavour != stock ]] || input=0 size=320x180 fps=10 at=@10 allowed=0 rate=8000
# On a busy host an emulated one loses a frame of nearly every ten seconds at ten a second.
! emulated || fps=5 at=@5 allowed=25
shows_bars() { vivid_reset "$first" 3 320x240 "$1" 25; }
shows_moving_bars() { vivid_reset "$first" $input $size "$1" $fps; }

# The host holds up an emulated driver, which misses frames and says so. Behind the driver none is lost.
few_lost() {
  dropped_at_most $allowed || return
  ! emulated || awk -F= '(/^inputs\.camera\.drops\./ && !/\.sequence-gap=/ || /^drops\.slow-recorder=/) && $2 { print; n = 1 } END { exit n }' \
    "$work/facts"
}

# ten_seconds FILE FOURCC: an emulated machine is at times held up for longer than any ring lasts. What was lost is then told,
# and it is tried again, six times at most; a loss that is not told fails at once.
ten_seconds() {
  local try
  for try in 1 2 3 4 5 6; do
    record "$1" --camera "$first" --video-format "$2:$size$at" --microphone $loop --duration 10 || return 1
    # Where the camera was held up outside of the ten seconds, more is told than they have; less is a loss that is not told.
    (($(value frames) + $(dropped) > fps * 10)) || accounted $fps 10 || return 1
    ! accounted $fps 10 || ! few_lost || ! is missedSamples 0 || return 0
  done
}

movie() { # FILE CONTAINER FOURCC
  local file=$work/$1
  it "$1: the camera shows bars in $3 at $size" shows_moving_bars "$3"
  it "$1: picture and a tone are recorded for ten seconds" ten_seconds "$file" "$3"
  it "$1: the encoders are reported" is videoEncoder libx264
  it "$1: each frame is written or reported as lost" accounted $fps 10
  it "$1: at most $allowed in a hundred are lost" few_lost
  it "$1: no sound is lost" is missedSamples 0
  it "$1: it is $2" says "$2" container "$file"
  it "$1: the picture is H.264" has "$file" video codec_name h264
  it "$1: of its size" test "$(picture_size "$file")" = $size
  it "$1: the sound is AAC" has "$file" audio codec_name aac
  it "$1: ffprobe counts the frames that were reported" test "$(frame_count "$file")" = "$(value frames)"
  it "$1: its length is true" within "$(duration "$file")" 10 0.1
  it "$1: the bars have their colours" bars "$file" 5
  it "$1: the tone has its frequency" within "$(tone "$file")" 1000 1
}

photo() { # FILE OPTION...
  rm -f "$work/$1"
  capturectl photo "${@:2}" "$work/$1" && bars "$work/$1"
}

# A host may hold the machine up, which then loses sound and says so: it is recorded again.
three_seconds() {
  local try
  for try in 1 2 3 4 5 6; do
    record "$1" --microphone $loop --duration 3 || return
    ! is missedSamples 0 || ! is silence 0 || return 0
  done
}
sound_file() { # FILE CODEC
  it "$1: a tone is recorded" three_seconds "$work/$1"
  it "$1: in $2" has "$work/$1" audio codec_name "$2"
  it "$1: no sound is lost" is missedSamples 0
  it "$1: nor silence in its place" is silence 0
  it "$1: all of it" within "$(value samples)" $((3 * rate)) 1
  it "$1: its length is true" within "$(duration "$work/$1")" 3 0.02
  it "$1: the tone has its frequency" within "$(tone "$work/$1")" 1000 1
}

it "captured is installed and serves" serve
((not_ok_count == 0)) || finish
it "cameras and microphones are listed" facts capturectl devices --json
it "a camera's node is an alias" grep -qE "aliases\.[0-9]+=$first$" "$work/facts"
it "metadata and output nodes are left out" test \
  "$(grep -c driver=vivid "$work/facts")" = "$(grep -lx 'vivid-.*-vid-cap' /sys/class/video4linux/*/name | wc -l)"
it "a camera says that it has metadata" grep -qE 'metadata\.0=UVCH$' "$work/facts"
# Vivid's camera clock counts in units of its own; the time is that of the frame.
tells() { capturectl metadata --camera "$first" --video-format YUYV:$size$at --count 5 >"$work/told"; }
it "it is printed, for each frame" tells
it "five lines" test "$(wc -l <"$work/told")" = 5
it "with a time, and both clocks" test "$(grep -cE '"timestamp":[0-9]+,.*"format":"UVCH",.*"hostTime":[0-9]+,.*"cameraClock":[0-9]+' "$work/told")" = 5
it "in order" sort -nuc -t: -k2,2 "$work/told"
it "formats are listed with sizes and rates" says '640x480 .*15.* fps' capturectl formats "$first"
it "a tone sounds" play_tone 1000 1800 0 $rate
it "the camera shows bars" shows_moving_bars YUYV

# The machine's disk is the host's, a page at a time: what is measured comes when the codecs are in memory.
it "a first recording works" \
  record "$work/first.mkv" --camera "$first" --video-format YUYV:$size$at --microphone $loop --duration 2
movie out.mkv matroska YUYV
movie out.mp4 mp4 NV12

it "the camera shows small bars" shows_bars YUYV
it "photo: YUYV as JPEG" photo yuyv.jpg --camera "$first" --video-format YUYV:320x240
it "photo: Bayer as PNG" photo bayer.png --camera "$first" --video-format BA81:320x240
it "photo: the file is what its name says" has "$work/bayer.png" video codec_name png
it "photo: red, green and blue" photo rgb.jpg --camera "$first" --video-format RGB3:320x240
it "the multi-planar camera shows bars" vivid_reset "$second" 3 320x240 NM12 25
it "photo: two planes in memory of their own" photo nm12.png --camera "$second" --video-format NM12:320x240
it "photo: three planes" photo ym12.jpg --camera "$second" --video-format YM12:320x240

sound_file talk.wav pcm_s16le
sound_file talk.flac flac
sound_file talk.opus opus
sound_file talk.m4a aac

frames() { capturectl frames --camera "$first" --video-format YUYV:320x240 --count 5 --format "$1" >"$work/$2"; }
it "frames: Y4M" frames y4m pipe.y4m
it "frames: five of them" test "$(frame_count "$work/pipe.y4m")" = 5
it "frames: with their colours" bars "$work/pipe.y4m"
it "frames: raw" frames raw pipe.yuv
it "frames: the camera's bytes" test "$(stat -c %s "$work/pipe.yuv")" = $((5 * 320 * 240 * 2))
it "frames: MJPEG" frames mjpeg pipe.mjpeg
it "frames: five pictures" test "$(frame_count "$work/pipe.mjpeg")" = 5
listen() { capturectl listen --microphone $loop --format "$1" --duration 2 >"$work/$2"; }
it "listen: WAV" listen wav pipe.wav
it "listen: two seconds" within "$(duration "$work/pipe.wav")" 2 0.02
it "listen: raw" listen raw pipe.raw
it "listen: two seconds of samples" test "$(stat -c %s "$work/pipe.raw")" = $((2 * rate * 4))

# In the background: one process starts, others look, take a photo, share the camera and stop.
background() { id=$(capturectl start --camera "$first" --microphone none --video-format YUYV:320x240 --video-codec mjpeg "$work/bg.mkv"); }
it "start prints a number" background
it "the session runs by itself" wait_for 20 session_is "$id" running
it "a photo is taken of it" photo running.jpg --session "$id"
it "another session has the same camera" \
  record "$work/shared.mkv" --camera "$first" --microphone none --preset low --video-codec mjpeg --duration 2
it "which keeps its format" says 320x240 value inputs.camera.format
it "stop ends it" capturectl stop "$id"
it "it is stopped" session_is "$id" stopped
it "its file plays" playable "$work/bg.mkv"
it "so does the other" playable "$work/shared.mkv"

# A recording that is paused, of a camera and a sound card that go on.
# In codecs that cost an emulated processor little: what is on its way at a pause is looked at by the tests of outputs.
start_paused() {
  id=$(capturectl start --camera "$first" --microphone $loop --video-format YUYV:160x120 --video-codec mjpeg --audio-codec flac "$work/$1")
}
look() { facts capturectl status --json "$id"; }
counter() { look && value "statistics.$1"; }
records() { (($(counter outputs.movie.frames) > $1)); }
paused_is() { [[ $(counter outputs.movie.isPaused) == "$1" ]]; }
published_more() { (($(counter inputs.camera.published) > before + 40)); }
stands_still() { local size; size=$(stat -c %s "$1"); before=$(counter inputs.camera.published); wait_for 30 published_more && ! larger "$1" "$size"; }
lacks_the_pause() { awk -v file="$(duration "$1")" -v all="$(counter elapsed)" 'BEGIN { exit !(file + 0 > 0 && file + 1 < all) }'; }
recorder_dies() { pkill -KILL -x captured-record; wait_for 30 session_is "$id" failed; }
it "a recording is begun" start_paused paused.mkv
it "it records" wait_for 30 records 5
it "it is paused" capturectl pause "$id"
it "which is shown" wait_for 20 paused_is true
# What was on its way is written by then.
it "the camera goes on, and the file does not" wait_for 240 stands_still "$work/paused.mkv"
before=$(counter outputs.movie.frames)
it "it goes on" capturectl resume "$id"
it "with pictures" wait_for 30 records $((before + 10))
it "a photo cannot be paused" fails capturectl pause "$id" photo
it "it is stopped" capturectl stop "$id"
it "it plays" playable "$work/paused.mkv"
it "its file lacks the pause" lacks_the_pause "$work/paused.mkv"
it "another is begun" start_paused killed.mkv
it "it records, too" wait_for 30 records 5
it "it is paused, too" capturectl pause "$id"
it "as is shown" wait_for 20 paused_is true
it "what was on its way is written" wait_for 240 stands_still "$work/killed.mkv"
it "its recorder is killed" recorder_dies
it "what came before plays" playable "$work/killed.mkv"

stop_tone
finish
