#!/bin/bash
# The crop of an HDMI input: read, set, refused out of range, told and put back. With a scaler frames keep their size;
# without one they get the crop's, and nobody's frames change it while they stream.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

first=$(camera 1)
control() { capturectl control --camera "$first" "$@"; }
select_crop() { v4l2-ctl -d "$first" --set-selection "target=crop,left=$1,top=$2,width=$3,height=$4"; }
has_crop() { says "Left $1, Top $2, Width $3, Height $4," v4l2-ctl -d "$first" --get-selection target=crop; }
film() { begin_record "$1" --camera "$first" --microphone none; }
# Each time another one: the watch may not have begun yet, and asks four times a second then.
crop_is_told() {
  left=$((left == 32 ? 48 : 32)) && select_crop "$left" 16 640 480 &&
    says '  crop  (32|48),16,640x480' cat "$work/watch"
}

it "captured serves" serve
((not_ok_count == 0)) || finish
# Other suites may have had it restarted in this boot.
restarts=$(systemctl show -P NRestarts captured)
it "a webcam is set" vivid_reset "$first" 0 640x360 YUYV 10
it "it has no crop" fails says '^crop ' control
it "that is said, 65" expect_exit 65 control crop=0,0,320x240
it "HDMI has a signal" vivid_reset "$first" 3 1280x720 YUYV 25
it "its crop is all of the signal" says '^crop +0,0,1280x720 +within 0,0,1280x720' control --wide crop
it "one is set" control crop=160,120,640x480
it "the driver has it" has_crop 160 120 640 480
for wrong in 0,0,1281x720 -1,0,640x480 640,360,641x360 0,0,0x480 0,0,640x0 99999,0,1x1 640x480; do
  it "$wrong is refused, 65" expect_exit 65 control "crop=$wrong"
done
it "the driver does not hear of it" has_crop 160 120 640 480
it "one is too small for the driver" control crop=0,0,1x1
it "it takes the nearest" fails has_crop 0 0 1 1
it "the nearest is shown" eval 'control --wide crop | says "$(v4l2-ctl -d "$first" --get-selection target=crop |
  sed -E "s/.*Left ([0-9]+), Top ([0-9]+), Width ([0-9]+), Height ([0-9]+),.*/^crop +\1,\2,\3x\4 /")" cat'
it "it is reset" control --reset
it "the driver has all of the signal again" has_crop 0 0 1280 720

capturectl control --watch --camera "$first" >"$work/watch" &
watcher=$! left=48
it "a change by another program is told" wait_for 30 crop_is_told
it "the watch ends as asked" eval 'kill -INT $watcher && wait $watcher'
it "the crop is put back" control --reset
it "autogain is off" control autogain=off

it "a program of CaptureKit's may use the camera" allow_subject
# capturectl is the other program that changes the controls: v4l2-ctl has no control for the crop.
it "it goes through the typed controls" walk_controls "$first" "capturectl control --camera $first"
cat "$work/typed"
it "crop is read, set, refused out of range, told and put back" typed crop
it "no other is wrong" says ' controls, 0 wrong$' cat "$work/typed"
it "the controls return" control --reset

it "a recording runs" film "$work/scaled.mkv"
it "the crop changes under it" control crop=160,120,640x480
it "it goes on" goes_on
kill -INT $recording
it "it ends as asked" record_ends 0
it "its frames have kept their size" says '1280x720' value inputs.camera.format
it "the crop is put back" control --reset

it "the driver scales no more" v4l2-ctl -d "$first" -c enable_capture_scaler=0,enable_capture_composing=0
it "the crop is all of the signal" has_crop 0 0 1280 720
it "a recording runs" film "$work/cropped.mkv"
it "a crop of another size is refused, 75" expect_exit 75 control crop=160,120,640x480
it "the recording goes on" goes_on
kill -INT $recording
it "it ends as asked" record_ends 0
it "then the crop is set" control crop=160,120,640x480
it "a photo has its size" facts capturectl photo --json --overwrite --camera "$first" --video-format 640x480 "$work/photo.jpg"
it "in the whole of it" says '640x480' value inputs.camera.format
it "the crop is as it was set" has_crop 160 120 640 480
it "the driver scales again" v4l2-ctl -d "$first" -c enable_capture_scaler=1,enable_capture_composing=1
it "the controls return" control --reset
it "the daemon never went down" says "^NRestarts=$restarts$" systemctl show -p NRestarts captured
finish
