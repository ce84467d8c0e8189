# What a suite has inside the machine. A suite sources this first, calls `it` for each fact, and `finish` at its end.
# shellcheck shell=bash
set -u
vm=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checkout=$(cd "$vm/../.." && pwd)
work=$(mktemp -d /tmp/suite.XXXXXX)
flavour=${CAPTURE_TEST_FLAVOUR:-}
boot=${CAPTURE_TEST_BOOT:-1}
ok_count=0 not_ok_count=0 skipped_count=0
# The system's own interpreter: another one that the host put first in PATH may be a slow wrapper, or missing inside.
python=/usr/bin/python3
[[ -x $python ]] || python=python3
# nap SECONDS: without a process, which takes longer to start than to sleep.
exec {never}<> <(:)
nap() { read -rt "$1" -u "$never"; true; }
# The machine's console, for what is said to the host while a check's output is kept.
exec {console}>&1
for part in "$vm"/lib/guest/*.sh; do . "$part"; done

# look_at_clock: seconds since the boot, in `moment`. The shell's own count goes by the date, which suites set.
look_at_clock() {
  read -r moment _ </proc/uptime
  moment=${moment%%.*}
}

# it SENTENCE COMMAND...: the command (a function may set variables) succeeds. Its output is shown when it does not.
it() {
  local sentence=$1 status=0 began moment
  look_at_clock
  began=$moment
  shift
  echo "$began $sentence" >"$work/checking"
  "$@" >"$work/output" 2>&1 || status=$?
  look_at_clock
  if ((status == 0)); then
    ok_count=$((ok_count + 1))
    echo "ok - $sentence$(slow $((moment - began)))"
  else
    not_ok_count=$((not_ok_count + 1))
    echo "not ok - $sentence (status $status)"
    echo "  | \$ $*" | head -n 5
    tail -n 40 "$work/output" | sed 's/^/  | /'
  fi
  return 0
}
check() { it "$@"; }

# A check that takes minutes hangs: what its processes wait for is told, since the machine's time limit takes them along.
tell_what_hangs() {
  local since sentence process moment
  while sleep 30 && read -r since sentence <"$work/checking"; do
    look_at_clock
    ((moment - since > 180)) || continue
    echo "# hangs: $sentence"
    for process in /proc/[0-9]*; do
      case $(<"$process/comm") in
        capture* | setpriv | busctl | systemctl | ffprobe)
          echo "#   ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline"): $(cat "$process"/task/*/wchan | tr -s '0' ' ')"
          cat "$process"/task/*/stack | sed 's/^/#     /' ;;
      esac
    done 2>/dev/null
    return
  done 2>/dev/null
}
tell_what_hangs &
watcher=$!
slow() { (($1 < 5)) || echo " [$1 s]"; }

# skip SENTENCE WHY: only for what this kernel cannot do at all.
skip() {
  skipped_count=$((skipped_count + 1))
  echo "skip - $1 ($2)"
}

# The one proper end. A suite that stops without it has failed, whatever it printed.
finish() {
  kill "$watcher" 2>/dev/null
  echo "# end: $ok_count ok, $not_ok_count not ok, $skipped_count skipped"
  rm -rf "$work"
  exit $((not_ok_count > 0))
}

# power_cut: ends this boot as a power cut does, nothing flushed. The header's `# cuts:` must name this boot.
power_cut() {
  echo "# end: $ok_count ok, $not_ok_count not ok, $skipped_count skipped"
  echo "### power cut ###"
  sleep 600
}

# wait_for SECONDS CONDITION...: polls until the condition holds; never a blind sleep. The last output is kept on failure.
# It pauses for twice as long as it looked: what is waited for needs the processor, too. A busy host gets `wait_factor`
# times the seconds.
wait_for() {
  local began moment until pause
  look_at_clock
  until=$((moment + ${wait_factor:-3} * $1))
  shift
  while
    read -r began _ </proc/uptime
    ! "$@" >"$work/condition" 2>&1
  do
    read -r moment _ </proc/uptime
    if ((${moment%%.*} >= until)); then
      echo "gave up waiting for: $*"
      tail -n 20 "$work/condition"
      return 1
    fi
    pause=$((2 * (10#${moment/./} - 10#${began/./})))
    ((pause = pause < 10 ? 10 : pause > 300 ? 300 : pause))
    printf -v pause '%d.%02d' $((pause / 100)) $((pause % 100))
    nap "$pause"
  done
}

# expect_exit CODE COMMAND...
expect_exit() {
  local code=$1 status=0
  shift
  "$@" || status=$?
  ((status == code)) || { echo "exit status $status, not $code: $*"; return 1; }
}

# within VALUE WANTED TOLERANCE: decimal numbers.
within() {
  awk -v v="$1" -v w="$2" -v t="$3" 'BEGIN { exit !(v != "" && v - w <= t && w - v <= t) }' ||
    { echo "$1 is not within $3 of $2"; return 1; }
}

# says PATTERN COMMAND...: its output (both streams) matches the extended regular expression.
says() {
  local pattern=$1
  shift
  "$@" >"$work/says" 2>&1
  grep -qE -- "$pattern" "$work/says" || { echo "no '$pattern' in:"; cat "$work/says"; return 1; }
}
fails() { ! "$@"; }
# quiet COMMAND...: it succeeds, and has nothing to say
quiet() { local words; words=$("$@" 2>&1) && [[ -z $words ]] || { echo "$words"; return 1; }; }
