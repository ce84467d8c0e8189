#!/bin/bash
# What a camera compresses itself goes into the file bit for bit. Needs v4l2loopback, whose frames any program writes.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

loopback=$(loopback)

# Emulated processors get less to do.
size=640x360 rate=10
[[ $flavour != stock ]] || size=320x180 rate=5

# Fifty frames, each different, over and over. Slow enough that the driver, which waits for no reader, does not write over
# a frame that is being read. Of the frame that stands there when a stream begins it tells the whole buffer's length, with
# what a longer frame has left behind.
make_stream() {
  mkdir "$work/known" &&
    ffmpeg -v error -f lavfi -i "testsrc2=size=$size:rate=$rate" -frames:v 50 -c:v mjpeg -q:v 3 "$work/known/%02d.jpg" &&
    md5sum "$work"/known/*.jpg | cut -d ' ' -f 1 >"$work/known.md5"
}
# hashes FILE: of each compressed frame, in order
hashes() { on_host "$1" ffmpeg -v error -nostdin -i {} -map 0:v:0 -c copy -f framemd5 - | awk '/^0/ { print $NF }'; }
# same_bytes FILE COUNT: at least so many frames, each one of the known ones, in their order. The driver may repeat one
# and leave some out.
same_bytes() {
  hashes "$1" >"$work/file.md5"
  awk -v least="$2" 'NR == FNR { at[$1] = NR - 1; known = NR; next }
    !($1 in at) { print "frame " FNR " is none of those that were written"; bad = 1; exit 1 }
    FNR > 1 { step = (at[$1] - last + known) % known
      if (step > known / 2) { print "frame " FNR " comes too late"; bad = 1; exit 1 }
      if (step > 1) gone += step - 1 }
    { last = at[$1]; frames = FNR }
    END { if (bad) exit 1; print frames " frames, " gone + 0 " left out"; exit !(frames >= least) }' \
    "$work/known.md5" "$work/file.md5"
}

# bit_for_bit FILE COUNT COMMAND...: same_bytes of the file that the command has made. If not, the command makes it again,
# twice at most: on a slow machine the driver may overwrite a frame before it is read.
bit_for_bit() {
  local attempt
  for attempt in 1 2 3; do
    ((attempt == 1)) || "${@:3}" || return 1
    ! same_bytes "$1" "$2" || return 0
  done
  return 1
}

it "captured serves" serve
((not_ok_count == 0)) || finish
it "a known MJPEG stream is made" make_stream
it "a camera delivers it" play_into "$loopback" MJPG -loop 1 -framerate "$rate" -i "$work/known/%02d.jpg" -c copy
for format in mkv mp4 mov; do
  movie=(record "$work/out.$format" --camera "$loopback" --microphone none --duration 5)
  it "$format: MJPEG is recorded" "${movie[@]}"
  it "$format: not encoded again" is videoEncoder copy
  it "$format: it is MJPEG" has "$work/out.$format" video codec_name mjpeg
  it "$format: bit for bit" bit_for_bit "$work/out.$format" $((3 * rate)) "${movie[@]}"
  it "$format: ffprobe counts the frames that were reported" test "$(frame_count "$work/out.$format")" = "$(value frames)"
done
frames() { capturectl frames --camera "$loopback" --format mjpeg --count 20 >"$work/pipe.mjpeg"; }
it "a pipe carries it" frames
it "bit for bit, too" bit_for_bit "$work/pipe.mjpeg" 20 frames
it "a photo is taken" capturectl photo --camera "$loopback" "$work/photo.jpg"
it "it is the camera's own picture" test "$(picture_size "$work/photo.jpg")" = $size
it "H.264 where it is asked for" record "$work/h264.mkv" --camera "$loopback" --microphone none --video-codec h264 --duration 2
it "which is H.264" has "$work/h264.mkv" video codec_name h264
kill $player
wait $player

# At odd sizes a program writes chroma rounded up, of which the driver keeps a row or two less.
make_bars() { # SIZE: vivid's eight bars
  "$python" - "$work/bars.ppm" "${1%x*}" "${1#*x}" <<'P'
import sys
path, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
bars = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191), (0, 0, 0)]
row = b"".join(bytes(bars[x * 8 // width]) for x in range(width))
open(path, "wb").write(b"P6 %d %d 255\n" % (width, height) + row * height)
P
}
play_bars() { play_into "$loopback" "$2" -loop 1 -framerate $rate -i "$work/bars.ppm" -pix_fmt "$1"; } # FFMPEG'S FORMAT, FOURCC
for size in 321x240 320x241 321x241; do
  for format in yuv420p:YU12 nv12:NV12; do
    it "$size: a camera delivers ${format#*:}" eval "make_bars $size && play_bars ${format%:*} ${format#*:}"
    it "$size: a photo of ${format#*:} is right" eval \
      'capturectl photo --overwrite --camera "$loopback" "$work/odd.png" && bars "$work/odd.png" 0 24 && [[ $(picture_size "$work/odd.png") == $size ]]'
    kill $player
    wait $player
  done
done
finish
