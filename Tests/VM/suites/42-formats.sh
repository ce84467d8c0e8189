#!/bin/bash
# Each pixel format, colour space, range and encoding of vivid's: the colours that it drew are those in the files.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

first=$(camera 1) second=$(camera 2)

# formats NODE: its raw formats' names, as capturectl has them
formats() { v4l2-ctl -d "$1" --list-formats | sed -n "s/.*'\([^']*\)'\(-BE\)\{0,1\} .*/\1\2/p" | tr -d ' '; }
right() { on_host "$1" python3 formats.py check {} "${@:2}"; }
# photo CAMERA FORMAT SIZE FILE [V4L2's numbers]
photo() {
  capturectl photo --overwrite --camera "$1" --video-format "$2:$3" "$work/$4" && right "$work/$4" "$2" "${@:5}"
}
movie() { # CAMERA FORMAT SIZE [V4L2's numbers]
  record "$work/colours.mkv" --camera "$1" --microphone none --video-format "$2:$3" --video-codec h264 --duration 0.4 &&
    right "$work/colours.mkv" "$2" "${@:4}"
}

it "captured serves" serve
((not_ok_count == 0)) || finish
# A large picture goes through the scaler, and comes late on a slow processor.
for node in $first $second; do
  it "$node shows bars" vivid_reset "$node" 3 640x360 "$(formats "$node" | tail -n 1)" 25
done
# vivid offers even sizes: neither side of the first is a multiple of four.
size=644x362 even=640x360
# For a PNG the recorder loads libav's 140 libraries, which takes an emulated processor a second. It takes JPEG here; the
# photos of colour spaces below are PNG.
one=one.png
! emulated || size=324x182 even=320x180 one=one.jpg
for format in $(formats "$first"); do it "$format at $size is right" photo "$first" "$format" $size $one; done
# The single-planar camera has the others.
for format in $(formats "$second" | grep -vxFf <(formats "$first")); do
  it "$format at $size is right" photo "$second" "$format" $size $one
done
# An emulated processor needs longer for a large picture than a photo waits. Scaled from a small signal it is black in part.
large() { vivid_reset "$1" 3 3840x2160 "$2" 25; }
if ! emulated; then
  it "the camera has a large picture" large "$first" YUYV
  for format in $(formats "$first"); do
    it "$format at 3840x2160 is right" photo "$first" "$format" 3840x2160 one.jpg
  done
  it "so has the other" large "$second" NM12
  for format in $(formats "$second" | grep -vxFf <(formats "$first")); do
    it "$format at 3840x2160 is right" photo "$second" "$format" 3840x2160 one.jpg
  done
fi
it "the camera has a small picture again" vivid_reset "$first" 3 640x360 YUYV 25
for format in YUYV RGB3 GREY RGGB; do
  it "$format is right in H.264" movie "$first" $format $size
done

# colours SPACE ENCODING QUANTIZATION FORMAT PRIMARIES TRANSFER MATRIX RANGE: vivid's numbers, then the tags of H.264
colours() {
  # Its menu has its own order of the colour spaces.
  local spaces=(1 3 8 9 10 12 2 5 6) what="$4, space ${spaces[$1]}, encoding $2, quantization $3"
  it "$what: the camera shows it" v4l2-ctl -d "$first" -c "colorspace=$1,y_cbcr_encoding=$2,quantization=$3"
  # Libav costs an emulated processor most: one PNG and one movie of each matrix and range, JPEG for the others.
  local kinds=(png jpg) known=false
  ! emulated || [[ " $coded " != *" $7 $8 "* ]] || kinds=(jpg) known=true
  for kind in "${kinds[@]}"; do it "$what: $kind" photo "$first" "$4" $even "one.$kind" "$2" "$3" "${spaces[$1]}"; done
  ! $known || return
  coded+=" $7 $8 "
  it "$what: H.264" movie "$first" "$4" $even "$2" "$3" "${spaces[$1]}"
  it "$what: H.264 is tagged $5, $6, $7, $8" tagged "$5" "$6" "$7" "$8"
}
tagged() {
  local tags
  tags=$(on_host "$work/colours.mkv" ffprobe -v error -select_streams v -of default=nw=1 {} \
    -show_entries stream=color_primaries,color_transfer,color_space,color_range | sort | cut -d = -f 2)
  # By name: primaries, range, space, transfer.
  [[ $(echo $tags) == "$1 $4 $3 $2" ]] || { echo "tagged $tags"; return 1; }
}
coded=''
colours 0 0 0 YUYV smpte170m bt709 smpte170m tv
colours 1 0 0 YUYV bt709 bt709 bt709 tv
colours 2 0 0 YUYV bt709 iec61966-2-1 smpte170m tv
colours 3 0 0 YUYV bt709 iec61966-2-1 smpte170m tv
colours 4 0 0 YUYV bt2020 bt709 bt2020nc tv
colours 5 0 0 YUYV smpte431 smpte428 bt709 tv
colours 6 0 0 YUYV smpte240m smpte240m smpte240m tv
colours 7 0 0 YUYV bt470m bt709 smpte170m tv
colours 8 0 0 YUYV bt470bg bt709 smpte170m tv
colours 1 1 1 YUYV bt709 bt709 smpte170m pc
colours 1 2 1 YUYV bt709 bt709 bt709 pc
colours 4 6 1 YUYV bt2020 bt709 bt2020nc pc
colours 6 8 1 YUYV smpte240m smpte240m smpte240m pc
colours 1 1 2 YUYV bt709 bt709 smpte170m tv
# xvYCC has one range.
colours 1 3 1 YUYV bt709 bt709 smpte170m tv
colours 1 4 0 YUYV bt709 bt709 bt709 tv
for quantization in 1 2; do
  colours 1 0 $quantization RGB3 bt709 bt709 smpte170m tv
  colours 1 0 $quantization GREY bt709 bt709 smpte170m $([[ $quantization == 1 ]] && echo pc || echo tv)
done
colours 3 0 0 RGB3 bt709 iec61966-2-1 smpte170m tv
colours 4 7 2 YUYV bt2020 bt709 bt2020c tv
it "the camera counts hues to 256" v4l2-ctl -d "$first" -c colorspace=1,y_cbcr_encoding=0,quantization=0,hsv_encoding=1
it "HSV3 is right" photo "$first" HSV3 $even one.png 129
it "the camera counts hues to 180" v4l2-ctl -d "$first" -c hsv_encoding=0
it "HSV3 is right" photo "$first" HSV3 $even one.png 128

# Television of 625 lines from the input for S-Video.
svideo() { v4l2-ctl -d "$first" -i 2 >/dev/null && v4l2-ctl -d "$first" --set-standard=pal >/dev/null; }
it "the camera is a television" svideo
it "it is recorded" record "$work/fields.mkv" --camera "$first" --microphone none --video-format YUYV:720x576 --duration 0.4
it "its format says so" says 'YUYV 720x576 interlaced' value inputs.camera.format
it "the movie is marked as interlaced, top field first" has "$work/fields.mkv" video field_order tt
finish
