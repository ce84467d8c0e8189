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
daemon=$(main_pid captured) bus=$(main_pid dbus)
watchdog_interval=$(systemctl cat captured | sed -n 's/^WatchdogSec=//p')s
it "the watchdog is off while nothing is captured" wait_for 20 fails watchdog_is "$watchdog_interval"
# What the start has left to do.
sleep 5
it "nothing wakes a daemon that captures nothing" idles
it "the camera takes its format" vivid_reset "$(camera 1)" 0 320x180 YUYV $rate
bus_stops_twice --camera "$(camera 1)" --microphone "$microphone" --video-format "$(small $rate)"
it "nothing is captured: the watchdog is off again" wait_for 20 fails watchdog_is "$watchdog_interval"
sleep 10
it "and nothing wakes the daemon" idles
it "it is still the same" test "$(main_pid captured)" = "$daemon"
finish
