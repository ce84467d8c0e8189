#!/bin/bash
# The message bus stands still while a camera and a microphone stream: nobody could withdraw a consent, so after two
# seconds nothing is captured any more. It goes on when the bus does. And a daemon that captures nothing is not woken
# for any of that. 17-dead-man-drivers has the memory that a driver writes by itself.
# machine: --systemd --vivid 2 --timeout 800 --karg vivid.multiplanar=1,2
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

rate=5 microphone=hw:Loopback,1
[[ $flavour != container ]] || rate=15 microphone=synthetic:microphone

it "captured serves" serve
((not_ok_count == 0)) || finish
knows_daemon
# What the start has left to do.
sleep 5
it "nothing wakes a daemon that captures nothing" idles
it "the camera takes its format" vivid_reset "$(camera 1)" 0 320x180 YUYV $rate
bus_stops_twice --camera "$(camera 1)" --microphone "$microphone" --video-format "$(small $rate)"
rests_again
finish
