# The installed daemon, and what capturectl says of a recording.
# shellcheck shell=bash

# serve: captured is installed and runs, and this suite's own commands may use cameras and microphones. For suites that
# share a boot: what is there already is kept.
serve() {
  have_captured || return 1
  systemctl start captured-recorder.socket captured || { journalctl --no-pager -n 30 -u captured; return 1; }
  local service
  for service in camera microphone; do capturectl auth set "$(myself)" "$service" authorized || return 1; done
}
# The id under which the daemon sees this suite.
myself() { capturectl auth whoami --json | sed -n 's/^  "program": "\(.*\)",$/\1/p'; }

restarts() { systemctl show --property=NRestarts --value captured; }
# Whether it is $daemon still, and was never restarted.
same_daemon() { [[ "$(restarts) $(main_pid captured)" == "0 $daemon" ]]; }
# The daemon and the processes that it has started.
processes() { cat /sys/fs/cgroup/system.slice/captured.service/cgroup.procs; }
# memory FIELD: of all of them, in KiB. Some of these end meanwhile.
memory() {
  local process
  for process in $(processes); do cat "/proc/$process/status" 2>/dev/null; done |
    awk -v field="$1:" '$1 == field { sum += $2 } END { print sum }'
}
# The greatest size is counted from here on.
forget_peak() {
  local process
  for process in $(processes); do echo 5 >"/proc/$process/clear_refs"; done
  idle=$(memory VmRSS)
}
# grew_at_most MIB: since then, all of them
grew_at_most() {
  local most
  most=$(memory VmHWM)
  echo "the service grew from $idle to $most KiB, in $(processes | wc -l) processes"
  ((most > 0 && most - idle <= $1 * 1024))
}

# facts COMMAND...: runs it and keeps the JSON on its standard output as lines such as inputs.camera.published=199 for
# `value`; ends with its status. One look at the JSON for all, since each start of an interpreter counts under emulation.
facts() {
  local status=0
  "$@" >"$work/facts.json" || status=$?
  awk -f "$vm/lib/guest/flat.awk" <"$work/facts.json" >"$work/facts" || cat "$work/facts.json"
  return $status
}
# record FILE OPTION...: a recording whose summary `value` knows
record() {
  rm -f "$1"
  facts capturectl record --json "${@:2}" "$1"
}
# begin_record FILE OPTION...: a recording in the background, until it has written something
begin_record() {
  recorded=$1
  rm -f "$1"
  capturectl record --json "${@:2}" "$1" >"$work/recording.json" 2>"$work/stderr" &
  recording=$!
  wait_for 60 has_begun "$1"
}
has_begun() { [[ -s $1 ]] || ! kill -0 "$recording"; }
# larger FILE BYTES
larger() { (($(stat -c %s "$1") > $2)); }
# The recording in the background writes on.
goes_on() { local from; from=$(stat -c %s "$recorded"); wait_for 20 larger "$recorded" $((from + 3000)); }
# record_ends CODE [PATTERN]: the recording in the background ends so by itself, says so, and its file plays; `value` knows
# its summary
record_ends() {
  local status=0
  wait_for 90 fails kill -0 "$recording" 2>/dev/null ||
    { kill -KILL "$recording"; echo "it never ended"; capturectl status; }
  wait "$recording" || status=$?
  tr '\r' '\n' <"$work/stderr" | tail -n 3
  awk -f "$vm/lib/guest/flat.awk" <"$work/recording.json" >"$work/facts"
  ((status == $1)) || { echo "exit status $status, not $1"; return 1; }
  [[ -z ${2:-} ]] || grep -qE -- "$2" "$work/stderr" || { echo "it does not say '$2'"; return 1; }
  playable "$recorded"
}
# value NAME: `value frames`; nothing when there is no such fact
value() {
  local all
  IFS= read -rd '' all <"$work/facts"
  all=$'\n'$all
  [[ $all != *$'\n'"$1="* ]] || { all=${all#*$'\n'"$1="} && printf '%s\n' "${all%%$'\n'*}"; }
}
# is NAME WANTED
is() { [[ $(value "$1") == "$2" ]] || { echo "$1 is '$(value "$1")', not '$2'"; return 1; }; }
# Everything lost on the camera's way, whatever the cause.
dropped() { awk -F= '/^inputs\.camera\.drops\./ || /^drops\.slow-recorder=/ { n += $2 } END { print n + 0 }' "$work/facts"; }
# dropped_at_most PERCENT
dropped_at_most() {
  awk -v d="$(dropped)" -v f="$(value frames)" -v p="$1" 'BEGIN { exit !(f > 0 && d * 100 <= p * (f + d)) }' ||
    { echo "$(dropped) dropped beside $(value frames)"; cat "$work/facts"; return 1; }
}
# accounted RATE SECONDS: what was written and what was reported as lost is what the device made in that time. At either
# end a frame can fall on one side or the other, and losses are counted up to the end of the session.
accounted() {
  within $(($(value frames) + $(dropped))) "$(awk -v r="$1" -v s="$2" 'BEGIN { print r * s }')" \
    "$(awk -v r="$1" -v d="$(dropped)" 'BEGIN { print 2 + (d ? r * 0.6 : 0) }')"
}

# session_is ID STATE
session_is() { says "\"state\": \"$2\"" capturectl status --json "$1"; }
