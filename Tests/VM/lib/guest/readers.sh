# A program of alice's that holds the memory of frames and samples while their service is off.
# shellcheck shell=bash

# Keeps the ring of its session mapped, looks at it when the session rests, and at the next when it goes on.
reader=/home/alice/reader
reader_program=exe:$reader

# make_reader: the program, and an agent of hers
make_reader() {
  install -m 755 "$checkout/.build/attacks/answers/evil" $reader && cp $reader /home/alice/there &&
    mkdir -p /etc/captured/apps.d || return 1
  printf '%s\n' '[Desktop Entry]' Name=Reader X-Capture-Program=$reader_program \
    X-Capture-MicrophoneUsageDescription=Listens >/etc/captured/apps.d/reader.desktop
  vivid_reset "$(camera 1)" 0 320x180 YUYV
}
start_readers_agent() {
  as alice /home/alice/there agent close >"$work/there.out" 2>&1 </dev/null &
  there_says registered
}
remove_reader() {
  pkill -KILL -x there
  rm /etc/captured/apps.d/reader.desktop
  forget
}
reader_says() { wait_for 60 grep -qE -- "$1" "$work/reader.out" || { cat "$work/reader.out"; return 1; }; }
there_says() { wait_for 60 grep -qE -- "$1" "$work/there.out" || { cat "$work/there.out"; return 1; }; }
# reader_said COUNT PATTERN: so many lines of it
reader_said() { [[ $(grep -cE -- "$2" "$work/reader.out") == "$1" ]] || { cat "$work/reader.out"; return 1; }; }
# reader_holds SERVICE: a session of hers has a buffer; sets id
reader_holds() {
  : >"$work/reader.out"
  as alice $reader session "$1" through >"$work/reader.out" 2>&1 </dev/null &
  reader_says 'mapped, and frames come' && id=$(sed -n 's/^running .*\///p' "$work/reader.out")
}
# by COMMAND...: it succeeds; sets `returned` to when, on the clock of frames
by() {
  "$@" && returned=$(cut -d ' ' -f 1 /proc/uptime)
}
# nothing_newer: the memory that the reader has kept stayed as it is, and its newest buffer is not of after that
nothing_newer() {
  reader_says 'the newest in it' || return 1
  tail -n 2 "$work/reader.out" && ! grep -q 'CHANGED\|WRITABLE\|ACCEPTED' "$work/reader.out" &&
    awk -v returned="$returned" '/the newest in it/ { newest = $NF }
      END { print newest, returned; exit !(newest > 0 && newest <= returned + 0.01) }' "$work/reader.out"
}
no_node() {
  local open
  open=$(ls -l "/proc/$(main_pid captured)/fd") && ! grep -E "$1" <<<"$open"
}

# reader_is_interrupted SERVICE [NODES]: a program holds what is recorded of it while it is switched off, and on again
reader_is_interrupted() {
  local service=$1 nodes=${2:-} id returned
  capturectl auth set --user alice $reader_program "$service" authorized
  it "$service: a program holds the memory of a session" reader_holds "$service"
  it "$service: it is switched off" by alone capturectl switch "$service" off
  it "$service: nothing newer than that reaches the program" nothing_newer
  it "$service: the session is suspended" session_is "$id" suspended
  it "$service: for that" says '"reasonCode": "SwitchedOff"' capturectl status --json "$id"
  it "$service: it is given no other memory meanwhile" reader_says '^another look refused'
  [[ -z $nodes ]] || it "$service: no node of it is open" no_node "$nodes"
  it "$service: the answer is what it was" stores "alice $reader_program $service authorized"
  it "$service: it is switched on" capturectl switch "$service" on
  it "$service: the session goes on by itself" reader_says '^runs again'
  it "$service: with frames" wait_for 60 reader_said 2 'mapped, and frames come'
  it "$service: in the same session" wait_for 20 session_is "$id" running
  it "$service: nobody was asked" fails grep -q asked "$work/there.out"
  it "$service: the answer is withdrawn while the memory is mapped" \
    by capturectl auth set --user alice $reader_program "$service" denied
  it "$service: the session is over, and is told why" reader_says '^over: failed: .*withdrawn'
  it "$service: nothing newer than that reaches the program" nothing_newer_again
  forget
}
nothing_newer_again() { wait_for 30 reader_said 2 'the newest in it' && nothing_newer; }
