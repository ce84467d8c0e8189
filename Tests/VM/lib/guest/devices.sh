# The cameras and microphones of the machine: putting them into a known state, and making them fail.

# vivid_reset [DEVICE [INPUT [WIDTHxHEIGHT [FOURCC [RATE]]]]]: one program's choice stays for the next, so before each use.
# Input 0 is the webcam: 320x180, 640x360, 640x480, 1280x720 at most 12.5 frames a second, 1920x1080 at 5, 3840x2160.
# No text is drawn over the pattern, since it would cover half of a small picture.
# Input 3 is HDMI: 60 frames a second (or 24, 25, 30 and 50 where asked for), scaled from its signal to any size. Fails
# where the driver gave something else.
# In a container there is the synthetic camera, which nobody else's choice reaches.
vivid_reset() {
  [[ $flavour != container ]] || return 0
  local device=${1:-/dev/video0} input=${2:-0} size=${3:-640x480} fourcc=${4:-YUYV}
  v4l2-ctl -d "$device" -i "$input" >/dev/null || return 1
  if ((input == 3)); then
    # HDMI takes its size from the signal, and the scaler offers the rest.
    v4l2-ctl -d "$device" --set-dv-bt-timings "index=$(hdmi_timing "$device" "$size" "${5:-60}")" >/dev/null || return 1
  fi
  # Each input has a brightness of its own range.
  v4l2-ctl -d "$device" -c brightness=$((128 + 128 * input)),contrast=128,saturation=128,hue=0,horizontal_flip=0,vertical_flip=0 \
    -c test_pattern=0,osd_text_mode=2,horizontal_movement=3,vertical_movement=3,loop_video=0 \
    -c percentage_of_dropped_buffers=0,wrap_sequence_number=0,wrap_timestamp=0,timestamp_source=0 &&
    v4l2-ctl -d "$device" "--set-fmt-video=width=${size%x*},height=${size#*x},pixelformat=$fourcc" &&
    v4l2-ctl -d "$device" --get-fmt-video >"$work/format" &&
    grep -q "Pixel Format *: '$fourcc'" "$work/format" && grep -q "Width/Height *: ${size/x//}\$" "$work/format" ||
    { echo "$device did not take $size $fourcc:" && cat "$work/format" && return 1; }
  # HDMI's rate is its signal's.
  ((input == 3)) || v4l2-ctl -d "$device" --set-parm "${5:-30}"
}

# The number of the first listed timing of that size and rate, else of 1280x720 at that rate.
hdmi_timing() {
  v4l2-ctl -d "$1" --list-dv-timings | awk -v w="${2%x*}" -v h="${2#*x}" -v rate="($3.00" '
    /Index:/ { index_ = $2 } /Active width:/ { width = $3 } /Active height:/ { height = $3 }
    /Frame format: interlaced/ { width = 0 }
    /Pixelclock:/ && index($0, rate) { if (width == w && height == h && found == "") found = index_
                                  if (width == 1280 && height == 720 && other == "") other = index_ }
    END { print found != "" ? found : other }'
}

# vivid_fault DEVICE NAME [VALUE], for good until vivid_reset where it is a number:
#   disconnect, inject_v4l2_buf_flag_error, inject_vidioc_reqbufs_error, inject_vidioc_qbuf_error,
#   inject_vidioc_streamon_error, inject_fatal_streaming_error (buttons); percentage_of_dropped_buffers 0-100,
#   wrap_sequence_number 1, wrap_timestamp 1-2
vivid_fault() { v4l2-ctl -d "$1" -c "$2=${3:-1}"; }

# unplug_cameras, plug_cameras: all vivid devices go and come back, as udev and programs see it. They return with new
# numbers while a program holds the old ones: ask `camera` again.
unplug_cameras() { echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind; }
plug_cameras() { echo vivid.0 >/sys/bus/platform/drivers/vivid/bind; }
# The same for one sound card, by its driver: snd_aloop or snd_dummy.
unplug_sound() { echo "$1.0" >"/sys/bus/platform/drivers/$1/unbind"; }
plug_sound() { echo "$1.0" >"/sys/bus/platform/drivers/$1/bind"; }

# camera N: the N-th vivid capture node (1 is the first); its numbers depend on what else vivid makes.
camera() {
  local node found=0
  [[ $flavour != container ]] || { echo synthetic:camera; return; }
  for node in $(ls -v /sys/class/video4linux | grep '^video'); do
    [[ $(<"/sys/class/video4linux/$node/name") == vivid-*-vid-cap ]] || continue
    found=$((found + 1))
    ((found != ${1:-1})) || { echo "/dev/$node"; return 0; }
  done
  echo "no vivid camera ${1:-1}" >&2
  return 1
}

# loopback: the node of v4l2loopback, whose frames any program writes; nothing where there is none
loopback() {
  local node
  node=$(grep -lx 'Dummy video device (0x0000)' /sys/class/video4linux/*/name | head -n 1 | cut -d/ -f5)
  [[ -z $node ]] || echo "/dev/$node"
}
# play_into NODE FOURCC WORDS...: what ffmpeg makes of those words, in the background; the process is `player`
play_into() {
  ffmpeg -v error -nostdin -re "${@:3}" -f v4l2 "$1" &
  player=$!
  wait_for 60 says "'$2'" v4l2-ctl -d "$1" --get-fmt-video
}

# small RATE: a format of `camera` that costs little
small() { [[ $flavour == container ]] && echo "YUYV:$small_size@15" || echo "YUYV:$small_size@$1"; }
small_size=320x180
[[ $flavour != container ]] || small_size=320x240

# make_tone FILE.wav HZ SECONDS [RATE [CHANNELS]]
make_tone() { "$python" -S "$vm/lib/guest/tone.py" make "$@"; }
# play_tone HZ SECONDS [SUBDEVICE [RATE]]: in the background, until stop_tone or its end. The player is the first to open
# the loop, so it decides the rate that the other side sees.
play_tone() {
  local file=$work/tone-$1-${4:-48000}.wav
  make_tone "$file" "$1" "$2" "${4:-48000}" && play "$file" "${3:-0}"
}
# play_beeps SECONDS [SUBDEVICE]: a beep each second instead
play_beeps() { "$python" -S "$vm/lib/guest/tone.py" beeps "$work/beeps.wav" "$1" && play "$work/beeps.wav" "${2:-0}"; }
play() { # FILE SUBDEVICE
  aplay -q -D "hw:Loopback,0,$2" "$1" &
  tone_player=$!
  wait_for 20 loop_plays "$2"
}
loop_plays() { grep -q RUNNING "/proc/asound/Loopback/pcm0p/sub$1/status"; }
stop_tone() {
  [[ -z ${tone_player:-} ]] || { kill "$tone_player" 2>/dev/null; wait "$tone_player" 2>/dev/null; }
  tone_player=''
}
# drift PPM [SUBDEVICE]: the loop's clock runs that much fast (or slow, negative), for both who plays and who records; steps
# of 10 ppm
drift() {
  amixer -q -c Loopback cset "iface=PCM,name='PCM Rate Shift 100000',device=1,subdevice=${2:-0}" "$((100000 - $1 / 10))"
}
