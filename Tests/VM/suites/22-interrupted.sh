#!/bin/bash
# Programs that hold the memory of frames and samples while their service is off: nothing newer reaches them, they go on by
# themselves when it is on again, and end when their consent has gone meanwhile.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast
# shares: people
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# Keeps the ring of its session mapped, looks at it when the session rests, and at the next when it goes on.
reader=/home/alice/reader
program=exe:$reader

prepare() {
  install -m 755 "$checkout/.build/attacks/answers/evil" $reader && cp $reader /home/alice/there &&
    mkdir -p /etc/captured/apps.d || return 1
  printf '%s\n' '[Desktop Entry]' Name=Reader X-Capture-Program=$program X-Capture-MicrophoneUsageDescription=Listens \
    >/etc/captured/apps.d/reader.desktop
  vivid_reset "$(camera 1)" 0 320x180 YUYV
}
says_in() { wait_for "${3:-60}" grep -qE -- "$2" "$work/$1.out" || { cat "$work/$1.out"; return 1; }; }
# times COUNT PATTERN: so many lines of the reader's
times() { [[ $(grep -cE -- "$2" "$work/reader.out") == "$1" ]] || { cat "$work/reader.out"; return 1; }; }
# holds SERVICE: a session of hers has a buffer; sets id
holds() {
  : >"$work/reader.out"
  as alice $reader session "$1" through >"$work/reader.out" 2>&1 </dev/null &
  says_in reader 'mapped, and frames come' && id=$(sed -n 's/^running .*\///p' "$work/reader.out")
}
# by COMMAND...: it succeeds; sets `returned` to when, on the clock of frames
by() {
  "$@" && returned=$(cut -d ' ' -f 1 /proc/uptime)
}
# nothing_newer: the memory that the reader has kept stayed as it is, and its newest buffer is not of after that
nothing_newer() {
  says_in reader 'the newest in it' || return 1
  tail -n 2 "$work/reader.out" && ! grep -q 'CHANGED\|WRITABLE\|ACCEPTED' "$work/reader.out" &&
    awk -v returned="$returned" '/the newest in it/ { newest = $NF }
      END { print newest, returned; exit !(newest > 0 && newest <= returned + 0.01) }' "$work/reader.out"
}
no_node() {
  local open
  open=$(ls -l "/proc/$(main_pid captured)/fd") && ! grep -E "$1" <<<"$open"
}

# interrupted SERVICE NODES: what is recorded of it is held by a program while it is switched off, and on again
interrupted() {
  local service=$1 nodes=$2 id returned
  capturectl auth set --user alice $program "$service" authorized
  it "$service: a program holds the memory of a session" holds "$service"
  it "$service: it is switched off" by alone capturectl switch "$service" off
  it "$service: nothing newer than that reaches the program" nothing_newer
  it "$service: the session is suspended" session_is "$id" suspended
  it "$service: for that" says '"reasonCode": "SwitchedOff"' capturectl status --json "$id"
  it "$service: it is given no other memory meanwhile" says_in reader '^another look refused'
  it "$service: no node of it is open" no_node "$nodes"
  it "$service: the answer is what it was" stores "alice $program $service authorized"
  it "$service: it is switched on" capturectl switch "$service" on
  it "$service: the session goes on by itself" says_in reader '^runs again'
  it "$service: with frames" wait_for 60 times 2 'mapped, and frames come'
  it "$service: in the same session" session_is "$id" running
  it "$service: nobody was asked" fails grep -q asked "$work/there.out"
  it "$service: the answer is withdrawn while the memory is mapped" \
    by capturectl auth set --user alice $program "$service" denied
  it "$service: the session is over, and is told why" says_in reader '^over: failed: .*withdrawn'
  it "$service: nothing newer than that reaches the program" nothing_newer_again
  forget
}
nothing_newer_again() { wait_for 30 times 2 'the newest in it' && nothing_newer; }

# A yes that ends while nothing is captured by it.
ends_meanwhile() {
  local id returned
  capturectl auth set --user alice --until 1h $program microphone authorized
  it "with a yes for an hour a program holds the memory of a session" holds microphone
  it "the microphone is switched off" by alone capturectl switch microphone off
  it "nothing newer than that reaches the program" nothing_newer
  it "the hour is over meanwhile" date -s '+2 hours'
  it "the microphone is switched on" capturectl switch microphone on
  it "the session does not go on, but is over" says_in reader '^over: failed: '
  it "it is told why" says_in reader '^over: failed: .*(has ended|its end date has passed)'
  it "it never ran again" times 0 '^runs again'
  it "nobody was asked" fails grep -q asked "$work/there.out"
  it "no node of it is open" no_node /dev/snd
  it "the journal tells of its end" wait_for 90 says "microphone of $program ended: .*its end date has passed" journal captured
  it "nothing is stored any more" stores_nothing
  it "the next start asks, and goes without where nobody answers" \
    says '^start ended failed: ' as alice $reader session microphone plain
  it "a person was asked then" says_in there "^asked .* $program"
}

it "captured serves, alice sits at the machine" start_captured
it "she has a program" prepare
as alice /home/alice/there agent close >"$work/there.out" 2>&1 </dev/null &
it "and an agent" says_in there registered
interrupted camera /dev/video
interrupted microphone /dev/snd/pcm
ends_meanwhile
pkill -KILL -x there
rm /etc/captured/apps.d/reader.desktop
forget
finish
