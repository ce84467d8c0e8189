#!/bin/bash
# Cameras that stop delivering, deliver damage, or lose their HDMI signal: recordings end on time, or go on with it.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

first=$(camera 1)
webcam() { vivid_reset "$first" 0 320x180 YUYV 25; }
hdmi() { v4l2-ctl -d "$first" -i 3 -c dv_timings_signal_mode=0 && vivid_reset "$first" 3 320x240 YUYV 25; }
signal() { v4l2-ctl -d "$first" -c "dv_timings_signal_mode=$1"; }

# film FILE OPTION...: records the camera alone in the background
film() { begin_record "$1" --camera "$first" --microphone none "${@:2}"; }
# has_lost CAUSE COUNT: the session counts so many lost frames of this cause by now
has_lost() {
  local id
  id=$(capturectl sessions | awk '/running|suspended/ { print $1; exit }')
  facts capturectl status --json "$id" && (($(grep "drops\.$1=" "$work/facts" | cut -d= -f2 | head -n 1) + 0 >= $2))
}
state() { capturectl sessions | grep -q "$1"; }

it "captured serves" serve
((not_ok_count == 0)) || finish

it "the webcam is set" webcam
it "a recording runs" film "$work/silent.mkv" --duration 60
it "for a while" wait_for 30 larger "$work/silent.mkv" 4000
it "the camera falls silent" vivid_fault "$first" percentage_of_dropped_buffers 100
it "the recording ends, 74" record_ends 74 "the camera delivers nothing"
it "a silent camera from the start" expect_exit 74 capturectl record --camera "$first" --microphone none --duration 6 "$work/none.mkv"
it "and so a photo" expect_exit 74 capturectl photo --camera "$first" "$work/none.png"
it "it delivers again" vivid_fault "$first" percentage_of_dropped_buffers 0
it "a short recording runs" film "$work/short.mkv" --duration 60
it "for a second" wait_for 30 larger "$work/short.mkv" 4000
it "the camera falls silent" vivid_fault "$first" percentage_of_dropped_buffers 100
it "it ends" record_ends 74 "the camera delivers nothing"
it "it delivers again" vivid_fault "$first" percentage_of_dropped_buffers 0

it "a recording runs" film "$work/damage.mkv" --duration 600
it "for a while" wait_for 30 larger "$work/damage.mkv" 4000
spoil() { while v4l2-ctl -d "$first" -c inject_v4l2_buf_flag_error=1; do nap 0.2; done; }
spoil >/dev/null 2>&1 &
spoiler=$!
it "damaged frames are counted" wait_for 60 has_lost device-error 5
kill $spoiler; wait $spoiler 2>/dev/null
kill -INT $recording
it "its file plays" record_ends 0

it "HDMI has a signal" hdmi
it "a recording runs" film "$work/signal.mkv"
it "for a while" wait_for 30 larger "$work/signal.mkv" 4000
it "the signal is lost" signal 1
it "the session is suspended" wait_for 15 state suspended
size=$(stat -c %s "$work/signal.mkv")
# What is lost is counted from the clock when the signal is back, so the gap itself has to last.
sleep 6
it "no noise is recorded" fails larger "$work/signal.mkv" $((size + 30000))
it "the signal returns" signal 0
it "the session goes on" wait_for 15 state running
kill -INT $recording
it "and ends as asked" record_ends 0
it "the gap is counted" test "$(value drops.no-signal)" -gt 50
it "a recording runs" film "$work/other.mkv" --duration 600
it "for a while" wait_for 30 larger "$work/other.mkv" 4000
it "another signal comes" v4l2-ctl -d "$first" -c dv_timings=3,dv_timings_signal_mode=4
it "the recording ends, 74" record_ends 74 "its signal is now"
it "HDMI is as it was" hdmi
finish
