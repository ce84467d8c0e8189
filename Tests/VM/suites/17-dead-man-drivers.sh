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
loopback=$(loopback)

# A camera whose driver does not take memory of others: its frames are copied.
copied() {
  local id
  it "another camera's driver has its own memory" \
    play_into "$loopback" MJPG -f lavfi -i "testsrc2=size=$size:rate=$rate" -c:v mjpeg -q:v 3
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
knows_daemon
it "the camera takes its format" vivid_reset "$camera" 0 $size YUYV $rate
it "something is to be heard" play_beeps 600
bus_stops_twice --camera "$camera" --microphone hw:Loopback,1 --video-format "YUYV:$size@$rate"
stop_tone
[[ -z $loopback ]] || copied
rests_again
finish
