# The message bus stands still while a session captures: what then becomes of its memory, its file and the daemon's
# sleep. A suite sets `rate`, of the camera.
# shellcheck shell=bash

# records_alone FILE OPTION...: a recording by the daemon alone; its session's number is in `id`
records_alone() {
  rm -f "$work/$1"
  id=$(capturectl start "${@:2}" "$work/$1") && wait_for 60 has_frames "$id" 5
}
# paused ID INPUT: how much of an input a pause has cost
paused() { facts capturectl status --json "$1" && value "statistics.inputs.$2.drops.paused" | grep . || echo 0; }
# media_sums: every byte of the memory that readers have mapped, ring by ring
media_sums() {
  local file ring
  find "/proc/$daemon/fd" -lname '/memfd:captured:*' -printf '%p %l\n' |
    while read -r file ring; do echo "${ring// /} $(sha256sum <"$file")"; done | sort
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

# stop_bus, let_bus_go_on: asked of nobody on the bus
stop_bus() { kill -STOP "$bus"; }
let_bus_go_on() { kill -CONT "$bus"; }
stays_still() {
  local before
  stop_bus
  sleep 2.2
  before=$(media_sums)
  sleep 5
  same "$before"
}
# a_second ID: the bus stands still for a second, which costs nothing and interrupts nothing. A machine that is held up
# meanwhile has it stand longer, so six attempts are made.
a_second() {
  local before said try
  for try in 1 2 3 4 5 6; do
    before=$(paused "$1" camera) said=$(suspensions "$1")
    stop_bus
    nap 1
    let_bus_go_on
    sleep 1
    [[ $(paused "$1" camera) != "$before" || $(suspensions "$1") != "$said" ]] || return 0
    wait_for 60 session_is "$1" running || return 1
  done
  return 1
}
suspensions() { journal captured | grep -c "session $1 .* suspended: capture is paused because the message bus" || true; }
suspended_since() { (($(suspensions "$1") > $2)); }

# switches: how often each thread of the daemon went to sleep. One is left out: libdispatch's own, which looks at its
# pool of threads once a second in every Swift program. Work of the daemon shows in the threads that it is done on.
switches() {
  # Some of them end meanwhile.
  cat "/proc/$daemon/task"/*/status 2>/dev/null | awk '/^Name:/ { name = $2; n = 0 } /ctxt_switches/ { n += $2 }
    /^nonvoluntary/ && name !~ /overcommit/ { print name, n }'
}
total_of() { awk '{ n += $NF } END { print n + 0 }'; }
idles() {
  local before after try
  # What a start or an end has left to do may come late; a heartbeat would be hundreds, each time.
  for try in 1 2 3; do
    before=$(switches)
    sleep 20
    after=$(switches)
    (($(total_of <<<"$after") - $(total_of <<<"$before") > 5)) || return 0
  done
  diff <(echo "$before") <(echo "$after")
  return 1
}
watchdog() { systemctl show --value -p WatchdogUSec captured; }
watchdog_is() {
  [[ $(watchdog) == "$1" ]] || { echo "the watchdog waits for $(watchdog), not $1"; return 1; }
}

# knows_daemon: sets `daemon`, `bus` and `watchdog_interval`
knows_daemon() {
  daemon=$(main_pid captured) bus=$(main_pid dbus)
  watchdog_interval=$(systemctl cat captured | sed -n 's/^WatchdogSec=//p')s
  it "the watchdog is off while nothing is captured" wait_for 20 fails watchdog_is "$watchdog_interval"
}
rests_again() {
  it "nothing is captured: the watchdog is off again" wait_for 20 fails watchdog_is "$watchdog_interval"
  sleep 10
  it "and nothing wakes the daemon" idles
  it "it is still the same" test "$(main_pid captured)" = "$daemon"
}

# interrupted_by_bus ID INPUT...
interrupted_by_bus() {
  local id=$1 input before said
  shift
  before=$(frames_of "$id") said=$(suspensions "$id")
  it "its frames stop with the bus: no byte of the mapped memory changes after two seconds" stays_still
  let_bus_go_on
  it "the bus goes on: so do frames and sound" changes
  it "the session runs" wait_for 60 session_is "$id" running
  it "more is recorded" wait_for 60 has_frames "$id" $((before + 3 * rate))
  for input; do
    it "what the pause of the $input has cost is counted" test "$(paused "$id" "$input")" -ge $((2 * rate))
  done
  it "the journal says why" wait_for 20 suspended_since "$id" "$said"
  it "the device was not lost" fails journal_says captured "session $id .* interrupted"
}

# bus_stops_twice OPTION...: a movie of those; the bus stands still for a second, and for longer
bus_stops_twice() {
  local id
  it "a movie is recorded" records_alone movie.mkv "$@" --video-codec mjpeg
  # Only a driver's are counted.
  [[ $flavour == container ]] || it "the camera's driver writes into the ring by itself" \
    says '"copiedBytes": 0' capturectl status --json "$id"
  it "two rings are there" rings_are 2
  it "the watchdog counts" watchdog_is "${watchdog_interval}"
  it "the bus stands still for a second, which costs and interrupts nothing" a_second "$id"
  interrupted_by_bus "$id" camera microphone
  it "the recording ends as it is told to" capturectl stop "$id"
  wait_for 60 session_is "$id" stopped
  it "it plays, from before the pause to after it" playable "$work/movie.mkv"
  it "every frame that was reported is in it" test "$(frame_count "$work/movie.mkv")" = "$(frames_of "$id")"
  it "it is as long as it took, the pause included" longer_than 7
  it "its sound is as long as its picture" within "$(stream_length audio)" "$(stream_length video)" 1
}
# stream_length KIND: seconds from the first packet to the last
stream_length() {
  on_host "$work/movie.mkv" ffprobe -v error -select_streams "${1:0:1}" -show_entries packet=pts_time -of csv=p=0 {} |
    awk -F, 'NR == 1 { first = $1 } { last = $1 } END { print last - first }'
}
longer_than() {
  awk -v a="$(stream_length video)" -v b="$1" 'BEGIN { exit !(a > b) }' || { stream_length video; return 1; }
}
