#!/bin/bash
# A USB camera as people have them: controls of which some are automatic, compressed formats, a size for photos, an extension
# unit, and what such cameras do wrong.
# machine: --systemd --vivid 1 --timeout 1800
# flavours: stock fast
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# control NAME PATTERN: how the driver describes it
control() { says "^ *$1 .*$2" cat "$work/controls"; }
list_controls() { v4l2-ctl -d "$node" -l >"$work/controls"; }
settle_controls() { list_controls && control "$@"; }
set_controls() { v4l2-ctl -d "$node" -c "$1"; }
format() { awk -v code="'$1'" '/^\t\[/ { on = index($0, code) } on' "$work/formats" | says "$2" cat; }
# stream FORMAT SIZE COUNT: into a file, without captured
stream() {
  v4l2-ctl -d "$node" "--set-fmt-video=width=${2%x*},height=${2#*x},pixelformat=$1" --stream-mmap --stream-count="$3" \
    --stream-to="$work/stream"
}
# The luma of the white bar in the last raw picture of 160x120.
white() { od -An -tu1 -j $(($(stat -c %s "$work/stream") - 160 * 2)) -N 1 "$work/stream"; }
film() { begin_record "$1" --camera "$node" --microphone none --video-format MJPG:320x240@10 "${@:2}"; }
# spoil FAULT COUNT: so many frames have it
spoil() { tell one "$1" "$2" && wait_for 10 no_fault_left; }
no_fault_left() { (($(asks one faults) == 0)); }
# in_order FILE: each frame shows a larger number than the one before
in_order() {
  on_host "$1" python3 picture.py numbers {} 320 >"$work/numbers" && test -s "$work/numbers" &&
    sort -nuc "$work/numbers"
}
shoot() { capturectl photo --camera "$node" --video-format YUYV:320x240 "$@"; }
# rising PHOTO...: each is brighter than the one before
rising() {
  local photo now before=-1
  for photo; do
    now=$(on_host "$photo" ffmpeg -v error -i {} -vf scale=1:1:flags=area -pix_fmt gray -f rawvideo - | od -An -tu1) &&
      ((now > before)) || return 1
    echo "# ${photo##*/}: $((now)) of 255"
    before=$now
  done
}
ids() { capturectl devices | awk '/Test Camera/ { print $2 }'; }
lists_both() { (($(ids | sort -u | wc -l) == 2)); }
plug_lying() { tell one descriptors "$1" && tell one plug && wait_for 20 looked_at; }
# copes: a camera with such descriptors delivers, or is refused with a code for that
copes() {
  local status=0
  has_usb_cameras 0 || wait_for 20 says 'Test Camera' capturectl devices || return 1
  timeout 60 capturectl photo --overwrite --camera "$id" "$work/lie.jpg" || status=$?
  case $status in 0 | 65 | 66 | 74) ;; *) return 1 ;; esac
}
# Each time another value: the watch may not have begun yet.
zoom_is_told() {
  zoom=$((zoom == 200 ? 210 : 200)) && capturectl control --camera "$node" "zoom_absolute=$zoom" &&
    says '  zoom_absolute  ' cat "$work/watch"
}

it "a camera is plugged in" start_usb_camera one
it "uvcvideo takes it" wait_for 30 has_usb_cameras 1
node=$(usb_nodes) meta=$(usb_nodes 1)
((not_ok_count == 0)) || finish

v4l2-ctl -d "$node" --list-formats-ext >"$work/formats"
it "MJPEG has a size for photos" format MJPG 2592x1944
it "YUYV is there" format YUYV 640x480
it "NV12, too" format NV12 640x480
it "and H.264" format H264 1280x720

it "the extension unit becomes controls of V4L2" "$checkout/.build/uvc/map-controls" "$node"
it "controls are listed" list_controls
it "focus has its range" control focus_absolute "min=0 max=250 step=5 default=30"
it "and is automatic" control focus_absolute flags=inactive
it "exposure, too" control exposure_time_absolute "min=1 max=5000 .*flags=inactive"
it "white balance, too" control white_balance_temperature "min=2800 max=6500 .*flags=inactive"
it "zoom is not" fails control zoom_absolute inactive
it "the flash is a menu" control led_mode "min=0 max=2 .*Off"
it "stabilization is a switch" control image_stabilization "bool.*value=0"
it "the exposure's bias is signed" control auto_exposure_bias "min=-2000 max=2000 step=500"
it "automatic ones are switched off" \
  set_controls auto_exposure=1,focus_automatic_continuous=0,white_balance_automatic=0
it "then all are set" set_controls \
  exposure_time_absolute=78,focus_absolute=100,white_balance_temperature=5000,zoom_absolute=200,pan_absolute=-3600,led_mode=2
it "and read back" list_controls
it "focus is as it was set" control focus_absolute "value=100$"
it "exposure, too" control exposure_time_absolute "value=78$"
it "the torch is on" control led_mode "value=2"
it "the camera has it" test "$(asks one exposure)" = 78
it "the controls return" set_controls zoom_absolute=100,pan_absolute=0,led_mode=0,white_balance_automatic=1
it "raw frames stream" stream YUYV 160x120 5
it "all of them" test "$(stat -c %s "$work/stream")" = $((5 * 160 * 120 * 2))
half=$(white)
it "half the exposure is dark" within "$half" 98 8
v4l2-ctl -d "$node" --wait-for-event=ctrl=exposure_time_absolute >"$work/event" &
waiter=$!
it "exposure is automatic again" set_controls auto_exposure=3
it "that is told as an event" wait_for 10 fails kill -0 $waiter
it "with the value" grep -q 'value' "$work/event"
it "the camera finds its light" wait_for 10 settle_controls exposure_time_absolute "value=156 "
it "raw frames stream" stream YUYV 160x120 5
it "they are bright" within "$(white)" 180 8
it "focus is automatic again" set_controls focus_automatic_continuous=1
it "something is near" tell one distance 200
it "focus follows" wait_for 10 settle_controls focus_absolute "value=200 "
it "MJPEG streams" stream MJPG 320x240 10
it "each frame is a JPEG" test "$(od -An -v -tx1 -w1 "$work/stream" | tr -d '\n' | grep -o 'ff d8 ff' | wc -l)" = 10

it "captured serves" serve
((not_ok_count == 0)) || finish
it "the camera is listed once" test "$(capturectl devices | grep -c 'Test Camera')" = 1
id=$(ids)
it "its controls, too" says 'focus_absolute' capturectl control --camera "$node"
it "one is set" capturectl control --camera "$node" brightness=10
it "the driver has it" says ' 10$' v4l2-ctl -d "$node" -C brightness
it "a setting that the camera refuses" expect_exit 75 capturectl control --camera "$node" focus_absolute=50
it "it is set back" capturectl control --camera "$node" brightness=0
it "names are V4L2's" says 'exposure_absolute .*inactive' capturectl control --wide --camera "$node"
it "the label selects it, too" says '(100 µs)' capturectl control --wide --camera "$node" exposure_time_absolute
capturectl control --watch --camera "$node" >"$work/watch" &
watcher=$! zoom=100
it "a change is told" wait_for 20 zoom_is_told
it "automatic focus is switched off" capturectl control --camera "$node" focus_auto=off
it "that enables the focus, which is told, too" wait_for 20 grep -q focus_absolute "$work/watch"
it "it is automatic again" capturectl control --camera "$node" focus_auto=on
it "the watch ends as asked" eval 'kill -INT $watcher && wait $watcher'
it "zoom returns" capturectl control --camera "$node" zoom_absolute=100

it "a program of CaptureKit's may use the camera" allow_subject
# v4l2-ctl is the other program that changes the controls.
it "it goes through all typed controls" walk_controls "$node" "v4l2-ctl -d $node -c"
cat "$work/typed"
for typed in "lens position" "focus mode" "exposure time" gain "exposure mode" "exposure bias" "colour temperature" \
  "white balance mode" "zoom factor" torch flash stabilization "power line"; do
  it "$typed is read, set, refused out of range, told and put back" typed "$typed"
done
it "the camera has no others" says '^13 controls, 0 wrong$' cat "$work/typed"
it "its controls return" capturectl control --camera "$node" --reset

it "settings are saved as the camera's profile" \
  capturectl control --camera "$node" --save focus_auto=off focus_absolute=100 zoom_absolute=200 auto_exposure_bias=500
it "the table has them" says '^focus_absolute +100 +100 ' capturectl control --wide --camera "$node"
it "captured starts again" systemctl restart captured
it "another program has changed them meanwhile" set_controls focus_absolute=50,zoom_absolute=120,auto_exposure_bias=0
it "a photo is taken" capturectl photo --camera "$node" --video-format MJPG:320x240 "$work/profile.jpg"
it "the camera has the profile's focus" says ' 100$' v4l2-ctl -d "$node" -C focus_absolute
it "and its zoom" says ' 200$' v4l2-ctl -d "$node" -C zoom_absolute
it "a bracket is taken, which changes the exposure" shoot --bracket -1,1 "$work/bracket.jpg"
it "the exposure returns to the profile's" says ' 500$' v4l2-ctl -d "$node" -C auto_exposure_bias
it "settings change before it is unplugged" set_controls focus_automatic_continuous=0,focus_absolute=50,zoom_absolute=120
it "the camera is unplugged" tell one unplug
it "no camera is there" wait_for 20 has_usb_cameras 0
it "it is plugged in again" tell one plug
it "it is there" wait_for 20 has_usb_cameras 1
node=$(usb_nodes) meta=$(usb_nodes 1)
it "captured lists it" wait_for 20 says "$id" capturectl devices
it "its controls are mapped again" "$checkout/.build/uvc/map-controls" "$node"
it "a photo is taken" capturectl photo --overwrite --camera "$id" --video-format MJPG:320x240 "$work/profile.jpg"
it "the camera has the profile's focus again" says ' 100$' v4l2-ctl -d "$node" -C focus_absolute
it "and its zoom" says ' 200$' v4l2-ctl -d "$node" -C zoom_absolute
it "the profile is forgotten" capturectl control --camera "$id" --forget
it "the table has it no more" fails says PROFILE capturectl control --wide --camera "$id"
it "its controls return" capturectl control --camera "$id" --reset

it "a photo is taken" facts capturectl photo --json --camera "$node" "$work/photo.jpg"
it "in the largest size" says '^MJPG 2592x1944' value inputs.camera.format
it "a bracket is taken" shoot --bracket -1,0,1 "$work/stops.jpg"
it "its photos are from dark to bright" rising "$work"/stops-{1,2,3}.jpg
it "a photo is taken in the light of the lamp" shoot --flash on "$work/lit.jpg"
it "EXIF says so" says '^ *9$' on_host "$work/lit.jpg" ffprobe -v error -show_entries frame_tags=Flash -of csv=p=0 {}
it "the controls are listed" list_controls
it "the bias is as before" control auto_exposure_bias "value=0"
it "the lamp is off" control led_mode "value=0"
# A camera that is held up sends fewer frames, which no driver counts.
two_seconds() {
  local try
  for try in 1 2 3 4 5 6; do
    record "$work/movie.mkv" --camera "$node" --microphone none --video-format MJPG:320x240@10 --duration 2 || return 1
    ! accounted 10 2 || return 0
  done
}
it "a movie is recorded" two_seconds
it "all of it" accounted 10 2
it "as the camera sent it" is videoEncoder copy
it "its frames show rising numbers" in_order "$work/movie.mkv"
it "and bars" bars "$work/movie.mkv" 1
it "H.264 is recorded" record "$work/h264.mkv" --camera "$node" --microphone none --video-format H264:320x240@10 --duration 2
it "as it was sent" is videoEncoder copy
it "it plays" test "$(frame_count "$work/h264.mkv")" = "$(value frames)"

tells() { timeout 60 capturectl metadata --camera "$node" "$@" --video-format MJPG:320x240@10 --count 5 >"$work/told"; }
it "its metadata belongs to it" facts capturectl devices --json
it "the format is listed" grep -q 'metadata\.0=UVCH$' "$work/facts"
it "it is printed" tells
it "with the numbers of the frames" test "$(grep -cE '"frame":[0-9]+,' "$work/told")" = 5
it "and both clocks" test "$(grep -cE '"presentationTime":[0-9]+,"cameraClock":[0-9]+,"cameraFrame":[0-9]+' "$work/told")" = 5

it "a recording runs" film "$work/faults.mkv"
it "its metadata comes to another program, beside it" tells
it "metadata flows beside it" eval 'timeout 20 v4l2-ctl -d "$meta" --stream-mmap --stream-count=3 --stream-to="$work/meta"'
# Twelve bytes: the flags, which of two frames it is in the lowest bit, then the camera's clock twice, and the bus'.
it "with headers of both clocks" says '^ 0c 8[ef]$' od -An -tx1 -j 10 -N 2 "$work/meta"
it "half of a frame is missing" spoil cut 3
it "a frame is overwritten" spoil garble 1
it "frames are marked as broken" spoil error-bit 3
it "frames are too long" spoil oversize 2
it "frames are empty" spoil empty 2
it "tables are missing" tell one tables off
it "the recording goes on" goes_on
it "tables are back" tell one tables on
it "there are no frames for a second" tell one stall 1
it "the recording goes on" goes_on
kill -INT $recording
it "it ends as asked" record_ends 0
it "what was cut is counted" test "$(value inputs.camera.drops.device-error)" -ge 3
it "and what the driver left out" test "$(value inputs.camera.drops.sequence-gap)" -ge 3

it "a recording runs" film "$work/halt.mkv"
it "transfers are refused" tell one halt 5
it "the recording ends, 74" record_ends 74 "nothing usable came"
it "a setting is refused" tell one settings-stall 1
it "that is told" says 'set brightness to 5' expect_exit 74 capturectl control --camera "$node" brightness=5
it "another is never answered" tell one settings-hang 1
it "that is told, too" says 'timed out' expect_exit 74 capturectl control --camera "$node" brightness=7
it "the next one is answered" capturectl control --camera "$node" brightness=0

it "a recording runs" film "$work/gone.mkv"
it "the camera is unplugged" tell one unplug
it "the file is finished, 74" record_ends 74 "went away"
it "no camera is there" wait_for 20 has_usb_cameras 0
# uvcvideo reads on after some, and leaves the camera after others.
for lie in total zero-length intervals frame-count endpoint; do
  it "it comes with descriptors that lie: $lie" plug_lying $lie
  it "it is unplugged" tell one unplug
done
for lie in frame-length size; do
  it "it comes with descriptors that lie: $lie" plug_lying $lie
  it "captured copes with it" copes
  it "it is unplugged" tell one unplug
done
it "no camera is there" wait_for 20 has_usb_cameras 0
it "an honest one is plugged in" eval 'tell one descriptors true && tell one plug'
it "it is there" wait_for 20 has_usb_cameras 1
# The driver has asked for none of its controls yet.
it "it refuses what is asked" tell one requests-stall 100
it "its controls cannot be listed, 74" expect_exit 74 capturectl control --camera "$(usb_nodes)"
it "nor set" expect_exit 74 capturectl control --camera "$(usb_nodes)" brightness=0
it "a photo fails with that, 74" expect_exit 74 capturectl photo --camera "$(usb_nodes)" "$work/refused.jpg"
it "it answers again" tell one requests-stall 0
it "its controls are listed" says 'focus_absolute' capturectl control --camera "$(usb_nodes)"
alone=$(ids)
delivered=$(asks one delivered)
it "so is another one just like it" start_usb_camera two
it "both are there" wait_for 20 has_usb_cameras 2
it "both are listed" wait_for 20 lists_both
it "the first one still has its name" eval 'ids | grep -qxF "$alone"'
# Which is which, the port says.
it "one of them takes a photo" capturectl photo --camera "$(ids | grep ":$(($(asks two port) + 1)):")" \
  --video-format MJPG:320x240 "$work/second.jpg"
it "it is that one" test "$(asks one delivered)" = "$delivered"
it "the daemon never went down" says '^NRestarts=0$' systemctl show -p NRestarts captured
it "a camera ends" eval 'tell two quit && wait $usb_camera'
finish
