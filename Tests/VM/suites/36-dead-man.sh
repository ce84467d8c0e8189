#!/bin/bash
# The message bus stands still while cameras and microphones stream: nobody could withdraw a consent, so after two seconds
# nothing is captured any more, not even into memory that a driver writes by itself. It goes on when the bus does. And a
# daemon that captures nothing is not woken for any of that.
# machine: --systemd --vivid 2 --timeout 800 --karg vivid.multiplanar=1,2
# flavours: stock fast
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
# started FILE OPTION...: a recording by the daemon alone; its session's number is in `id`
started() {
  rm -f "$work/$1"
  id=$(capturectl start "${@:2}" "$work/$1") && wait_for 60 has_frames "$id" 5
}
# counters ID: what the daemon knows of a session, for `value`
counters() { facts capturectl status --json "$1"; }
frames_of() { counters "$1" && awk -F= '/^statistics\.outputs\.[^.]*\.frames=/ { print $2 }' "$work/facts"; }
has_frames() { (($(frames_of "$1") >= $2)); }
# paused ID INPUT: how much of an input a pause has cost
paused() { counters "$1" && value "statistics.inputs.$2.drops.paused" | grep . || echo 0; }
# media_sums: every byte of the memory that readers have mapped, ring by ring
media_sums() {
  local file
  for file in "/proc/$daemon/fd"/*; do
    [[ $(readlink "$file") != /memfd:captured:* ]] || echo "$(readlink "$file" | tr -d ' ') $(sha256sum <"$file")"
  done | sort
}
rings_are() { [[ $(media_sums | wc -l) == "$1" ]] || { media_sums; return 1; }; }
changes() { local before; before=$(media_sums) && wait_for 60 differs "$before"; }
differs() {
  local old ring now
  # Each of them.
  now=$(media_sums)
  while read -r ring old; do ! grep -qF -- "$ring $old" <<<"$now" || return 1; done <<<"$1"
}
same() { diff <(echo "$1") <(media_sums); }

# stop_bus, go_on: asked of nobody on the bus
stop_bus() { kill -STOP "$bus"; }
go_on() { kill -CONT "$bus"; }
stays_still() {
  local before
  stop_bus
  sleep 2.2
  before=$(media_sums)
  sleep 5
  same "$before"
}
a_second() {
  stop_bus
  sleep 1
  go_on
}

# switches: how often each thread of the daemon went to sleep. One is left out: libdispatch's own, which looks at its pool
# of threads once a second in every Swift program. Work of the daemon shows in the threads that it is done on.
switches() {
  local task name
  for task in "/proc/$daemon/task"/*; do
    name=$(<"$task/comm") && [[ $name != *overcommit* ]] || continue
    awk -v name="$name" '/ctxt_switches/ { n += $2 } END { print name, n + 0 }' "$task/status"
  done
}
sum() { awk '{ n += $NF } END { print n + 0 }'; }
idles() {
  local before after
  before=$(switches)
  sleep 20
  after=$(switches)
  # A heartbeat would be hundreds.
  (($(sum <<<"$after") - $(sum <<<"$before") <= 5)) || { diff <(echo "$before") <(echo "$after"); return 1; }
}
watchdog() { systemctl show --value -p WatchdogUSec captured; }
watchdog_is() { [[ $(watchdog) == "$1" ]] || { echo "the watchdog waits for $(watchdog), not $1"; return 1; }; }

# interrupted ID INPUT...
interrupted() {
  local id=$1 input before
  shift
  before=$(frames_of "$id")
  it "its frames stop with the bus: no byte of the mapped memory changes after two seconds" stays_still
  go_on
  it "the bus goes on: so do frames and sound" changes
  it "the session runs" wait_for 60 session_is "$id" running
  it "more is recorded" wait_for 60 has_frames "$id" $((before + 3 * rate))
  for input; do
    it "what the pause of the $input has cost is counted" test "$(paused "$id" "$input")" -ge $((2 * rate))
  done
  it "the journal says why" journal_says captured "session $id .* suspended: capture is paused because the message bus"
  it "the device was not lost" fails journal_says captured "session $id .* interrupted"
}

ours() {
  local id before
  it "the camera takes its format" vivid_reset "$camera" 0 $size YUYV $rate
  it "something is to be heard" play_beeps 600
  it "a movie is recorded" started movie.mkv --camera "$camera" --microphone hw:Loopback,1 --video-format "YUYV:$size@$rate" \
    --video-codec mjpeg
  it "the camera's driver writes into the ring by itself" says '"copiedBytes": 0' capturectl status --json "$id"
  it "two rings are there" rings_are 2
  it "the watchdog counts" watchdog_is "${watchdog_interval}"
  before=$(paused "$id" camera)
  it "the bus stands still for a second" a_second
  sleep 1
  it "that has cost nothing" test "$(paused "$id" camera)" = "$before"
  it "and interrupted nothing" fails journal_says captured "session $id .* suspended"
  interrupted "$id" camera microphone
  it "the recording ends as it is told to" capturectl stop "$id"
  wait_for 60 session_is "$id" stopped
  it "it plays, from before the pause to after it" playable "$work/movie.mkv"
  it "every frame that was reported is in it" test "$(frame_count "$work/movie.mkv")" = "$(frames_of "$id")"
  it "it is as long as it took, the pause included" longer_than 7
  it "its sound is as long as its picture" within "$(stream_length audio)" "$(stream_length video)" 1
  stop_tone
}
# stream_length KIND: seconds from the first packet to the last
stream_length() {
  on_host "$work/movie.mkv" ffprobe -v error -select_streams "${1:0:1}" -show_entries packet=pts_time -of csv=p=0 {} |
    awk -F, 'NR == 1 { first = $1 } { last = $1 } END { print last - first }'
}

longer_than() { awk -v a="$(stream_length video)" -v b="$1" 'BEGIN { exit !(a > b) }' || { stream_length video; return 1; }; }

copied() {
  local id
  it "another camera's driver has its own memory" play_stream
  it "a movie is recorded of it" started copied.mkv --camera "$loopback" --microphone none
  it "one ring is there" rings_are 1
  interrupted "$id" camera
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
# What the start has left to do.
sleep 5
it "nothing wakes a daemon that captures nothing" idles
ours
[[ -z $node ]] || copied
it "nothing is captured: the watchdog is off again" wait_for 20 fails watchdog_is "$watchdog_interval"
sleep 10
it "and nothing wakes the daemon" idles
it "it is still the same" test "$(main_pid captured)" = "$daemon"
finish
