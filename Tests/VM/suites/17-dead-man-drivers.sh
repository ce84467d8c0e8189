#!/bin/bash
# The message bus stands still while drivers stream, one into the memory that readers have mapped and one into its own:
# after two seconds, neither reaches that memory. 36-dead-man has the rest.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

size=640x360 rate=10
[[ $flavour != stock ]] || size=320x180 rate=5
camera=$(camera 1)
node=$(grep -lx 'Dummy video device (0x0000)' /sys/class/video4linux/*/name | head -n 1 | cut -d/ -f5)
loopback=/dev/$node

# A camera whose driver does not take memory of others: its frames are copied.
play_stream() {
  ffmpeg -v error -nostdin -re -f lavfi -i "testsrc2=size=$size:rate=$rate" -c:v mjpeg -q:v 3 -f v4l2 "$loopback" &
  player=$!
  wait_for 60 says "'MJPG'" v4l2-ctl -d "$loopback" --get-fmt-video
}
copied() {
  local id
  it "another camera's driver has its own memory" play_stream
  it "a movie is recorded of it" records_alone copied.mkv --camera "$loopback" --microphone none
  it "one ring is there" rings_are 1
  interrupted_by_bus "$id" camera
  it "the recording ends as it is told to" capturectl stop "$id"
  wait_for 60 session_is "$id" stopped
  it "it plays" playable "$work/copied.mkv"
  kill "$player"
}

it "captured serves" serve
((not_ok_count == 0)) || finish
daemon=$(main_pid captured) bus=$(main_pid dbus)
watchdog_interval=$(systemctl cat captured | sed -n 's/^WatchdogSec=//p')s
it "the watchdog is off while nothing is captured" wait_for 20 fails watchdog_is "$watchdog_interval"
it "the camera takes its format" vivid_reset "$camera" 0 $size YUYV $rate
it "something is to be heard" play_beeps 600
bus_stops_twice --camera "$camera" --microphone hw:Loopback,1 --video-format "YUYV:$size@$rate"
stop_tone
[[ -z $node ]] || copied
it "nothing is captured: the watchdog is off again" wait_for 20 fails watchdog_is "$watchdog_interval"
sleep 10
it "and nothing wakes the daemon" idles
it "it is still the same" test "$(main_pid captured)" = "$daemon"
finish
