#!/bin/bash
# Consent can be withdrawn while the bus hangs. The attacks: a program sends a descriptor that takes 300 s to close to
# the daemon, to a name that nobody owns, and to the control socket; and the bus is stopped. During each, root and the
# attacking program's own user take a yes back or switch cameras off within a second. After that, nothing reaches the
# program. When the attack ends, everything works again.
# machine: --systemd --vivid 2 --timeout 2400
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

hang=/home/alice/attacks/hang
program=exe:$hang

prepare() {
  ip link set lo up && arm alice && log_in alice && vivid_reset "$(camera 1)" 0 320x180 YUYV &&
    mkdir -p /etc/captured/apps.d &&
    printf '%s\n' '[Desktop Entry]' Name=Hang X-Capture-Program=$program X-Capture-CameraUsageDescription=Looks \
      >/etc/captured/apps.d/hang.desktop
}

# usual WHO: the time of the fastest command as that user without an attack. Starting it and becoming that user are not
# the daemon's work.
declare -A usual bare
usual() {
  local turn
  for turn in 1 2 3; do
    timed "$1_does" --version || return 1
    [[ -n ${bare[$1]:-} ]] && ((bare[$1] < took)) || bare[$1]=$took
    timed "$1_does" sessions || return 1
    [[ -n ${usual[$1]:-} ]] && ((usual[$1] < took)) || usual[$1]=$took
  done
}
# timed COMMAND...: runs it and sets `took` to its milliseconds
timed() {
  local begin=${EPOCHREALTIME/./}
  "$@" >"$work/timed" 2>&1 || { cat "$work/timed"; return 1; }
  took=$(((${EPOCHREALTIME/./} - begin) / 1000))
}
# at_once WHO ARGUMENTS...: capturectl, as that user, takes at most a second more than without an attack. A machine that
# has become slower makes a command that asks no daemon slower, too.
at_once() {
  local mine
  timed "$1_does" "${@:2}" || return 1
  mine=$took
  cp "$work/timed" "$work/said"
  timed "$1_does" --version || return 1
  echo "$mine ms; usually ${usual[$1]}; --version takes $took, usually ${bare[$1]}" | tee -a "$work/times"
  ((mine <= usual[$1] + 1000 || mine * bare[$1] <= (usual[$1] + 1000) * took))
}
# soon WHO ARGUMENTS...: the same within six attempts, because the machine may be busy; a command that waits for the attack
# to end is late every time.
soon() {
  local turn
  for turn in 1 2 3 4 5 6; do at_once "$@" && return 0; done
  cat "$work/said"
  return 1
}
# at_once_anew WHO ARGUMENTS...: at_once, which one command of each capture can show. If the machine was held up, the attack
# ends and begins anew, by `begins`; what waits for the attack is late every time.
at_once_anew() {
  local turn
  for turn in 1 2 3; do
    at_once "$@" && return
    kill -CONT "$(main_pid dbus)"
    pkill -KILL -x hang
    wait_for 60 capturectl switch camera on && begins || return 1
  done
  return 1
}
uptime_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }
# The program's memory has not changed since `withdrawn`, and the program has looked since.
nothing_new() {
  wait_for 60 looked_later || return 1
  ! awk -v from="$withdrawn" '$1 == "changed" && $2 > from' "$work/watch.out" | grep . ||
    { echo "the memory changed after $withdrawn"; return 1; }
}
looked_later() { awk -v from="$withdrawn" '$2 > from + 3000 { n++ } END { exit n < 20 }' "$work/watch.out"; }

# over_the_attack NAME FIRST WHO: user WHO does FIRST, which ends the program's capture; then both users do everything
over_the_attack() {
  local name=$1 first=$2 who=$3 other
  case $first in
    reset) it "$name: $who takes the yes back within a second" at_once_anew "$who" auth reset $program camera ;;
    off) it "$name: $who switches cameras off within a second" at_once_anew "$who" switch camera off ;;
  esac
  withdrawn=$(uptime_ms)
  echo "# $name: $who, $first: $(tail -n 1 "$work/times")"
  it "$name: nothing reaches the program after that" nothing_new
  # The rest once for each attack.
  [[ $who == root ]] || return 0
  for other in root alice; do
    it "$name: $other sees who captures" soon "$other" sessions
    it "$name: $other switches cameras off again" soon "$other" switch camera off
    it "$name: $other resets the answers" soon "$other" auth reset $program
  done
  it "$name: alice cannot allow anything" fails alice_does auth set $program camera authorized
}
root_does() { timeout 20 capturectl "$@"; }
alice_does() { as alice timeout 20 capturectl "$@"; }

captures() {
  capturectl auth set --user alice $program camera authorized || return 1
  spawn watch alice $hang watch
  says_in watch changed
}
# after NAME: checks that everything works after the attack
after() {
  local name=$1
  it "$name: other programs go on" wait_for 60 capturectl sessions
  pkill -KILL -x hang
  it "$name: cameras are switched on again" capturectl switch camera on
  it "$name: cameras capture" record next.mkv --microphone none --duration 1
  it "$name: the daemon is the same" test "$(systemctl show --property=NRestarts --value captured) $(main_pid captured)" = "0 $daemon"
}
bus_hangs() { ! timeout 2 busctl --system call org.freedesktop.DBus / org.freedesktop.DBus GetId >/dev/null 2>&1; }
# During one attack root takes a yes back and alice switches cameras off; during the next they swap. An emulated processor
# has one of them at each attack, all four in turn.
all_ways=('root reset' 'alice off' 'root off' 'alice reset') each=2
! emulated || each=1
ways_turn() {
  ways=("${all_ways[@]:0:each}")
  all_ways=("${all_ways[@]:each}" "${ways[@]}")
}
# attack NAME ATTACK...: each of the two ways in turn, while the program captures and attacks
attack() {
  local name=$1 way words=("${@:2}")
  begins() {
    captures && spawn attack alice "$hang" "${words[@]}" && says_in attack sent &&
      { [[ ${words[0]} != bus ]] || wait_for 20 bus_hangs; }
  }
  ways_turn
  for way in "${ways[@]}"; do
    it "$name: a program captures, and the attack is under way" begins
    over_the_attack "$name" "${way#* }" "${way% *}"
    after "$name"
  done
}

it "captured is installed and serves" serve
it "the attacks are in place" prepare
daemon=$(main_pid captured)
for who in root alice; do
  it "the usual time of a command as $who is measured" usual $who
  echo "# usually ${usual[$who]} ms for $who, --version ${bare[$who]} ms"
done
attack "a call to the daemon" bus org.capturekit.Capture1
attack "a call to a name that nobody owns" bus org.example.Nobody
attack "the control socket" socket /run/captured/control
# And ten attacks on the control socket: more callers than the daemon serves at a time.
begins() {
  local number
  captures || return 1
  for number in {1..10}; do
    spawn "attack$number" alice $hang socket /run/captured/control && says_in "attack$number" sent || return 1
  done
  kill -STOP "$(main_pid dbus)"
}
ways_turn
for way in "${ways[@]}"; do
  it "a stopped bus: a program captures, and the attack is under way" begins
  over_the_attack "a stopped bus" "${way#* }" "${way% *}"
  kill -CONT "$(main_pid dbus)"
  after "a stopped bus"
done
finish
