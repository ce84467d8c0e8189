# The installed daemon as people use it: who asks, who answers on a terminal, and what it is made to endure.
# shellcheck shell=bash

# start_captured: installed and serving, nothing answered, alice logged in at the seat. What answers are kept in may be
# mounted before.
start_captured() {
  have_captured || return 1
  mkdir -p /home/alice && chown alice:alice /home/alice && as_folder=/home/alice || return 1
  # Suites ask more often in a minute than a person is to be asked.
  configure prompts '[Consent]\nPromptLimitIntervalSec=0'
  # An agent's yes to a service takes a password, which nobody is there to type.
  configure services '[Consent]\nPasswordForServices=no'
  systemctl start captured-recorder.socket captured || { journal captured | tail -n 30; return 1; }
  logged_in alice || log_in alice
}
# configure NAME LINES: a drop-in of the daemon's configuration; takes `systemctl reload captured`, or a start
configure() { mkdir -p /etc/captured/captured.conf.d && printf '%b\n' "$2" >"/etc/captured/captured.conf.d/$1.conf"; }
# reload_captured: returns when the configuration was read anew
reload_captured() {
  local before
  before=$(reloads)
  systemctl reload captured && wait_for 30 reloaded_since "$before"
}
reloads() { journal captured | grep -c 'the configuration was read again'; }
reloaded_since() { (($(reloads) > $1)); }
# unit_setting UNIT LINE...: a drop-in for [Service], for good until unit_default
unit_setting() {
  local unit=$1
  shift
  mkdir -p "/run/systemd/system/$unit.d" && printf '%s\n' '[Service]' "$@" >"/run/systemd/system/$unit.d/suite.conf" &&
    systemctl daemon-reload
}
unit_default() { rm -rf "/run/systemd/system/$1.d" && systemctl daemon-reload; }
journal() { read_journal -u "$1"; }

capturectl_program=exe:/usr/bin/capturectl
# allow, refuse USER SERVICE...; forget: everybody's answers
allow() { answer authorized "$@"; }
refuse() { answer denied "$@"; }
answer() {
  local status=$1 user=$2 service
  shift 2
  for service in "$@"; do capturectl auth set --user "$user" "$capturectl_program" "$service" "$status" || return 1; done
}
forget() { capturectl auth reset --all; }
# answers: what is stored, as lines `user program service status`
answers() {
  facts capturectl auth list --json && awk -F= '{ sub(/^[0-9]+\./, "", $1); is[$1] = $2 }
    $1 == "status" { print is["user"], is["program"], is["service"], is["status"] }' "$work/facts"
}
stores_nothing() { [[ -z $(answers) ]] || { answers; return 1; }; }
stores() { says "^$1\$" answers; }

# has_recorded ID SECONDS: so much of it is in its file; has_frames ID COUNT
has_recorded() { recorded "$1" duration "$2"; }
has_frames() { recorded "$1" frames "$2"; }
recorded() {
  facts capturectl status --json "$1" && awk -F= -v name="statistics\\.outputs\\.[^.]*\\.$2$" -v least="$3" \
    '$1 ~ name && $2 >= least { found = 1 } END { exit !found }' "$work/facts"
}
# newest_session: the number of the last one that was made
newest_session() { facts capturectl sessions --all --json && sed -n 's/^[0-9]*\.id=//p' "$work/facts" | sort -n | tail -n 1; }

# terminal NAME COMMAND...: runs it as alice in the foreground of a terminal; then `replies NAME KEYS`, `shows NAME TEXT`,
# `ends NAME STATUS`, and `terminal_of NAME` for the process
terminal() {
  local name=$1 words
  shift
  mkfifo "$work/$name.keys"
  # Held open, so that typing never waits for a reader.
  exec {keys}<>"$work/$name.keys"
  as_words alice
  (
    join_session alice
    "$python" -S "$vm/lib/guest/terminal.py" "$work/$name.keys" --owner 1000 -- "${words[@]}" "$@" \
      >"$work/$name.screen" 2>&1 </dev/null
    echo $? >"$work/$name.status"
  ) &
}
# types_hidden NAME KEYS: a password. What is typed between its prompt and the end of the echo is thrown away.
types_hidden() { wait_for 60 is_hidden "$1" && types "$1" "$2"; }
is_hidden() { stty -F "$(<"$work/$1.keys.tty")" -a | grep -q -- ' -echo '; }
types() { printf '%b' "$2" >"$work/$1.keys"; }
# replies NAME KEYS: types them when a question is put; what is typed before is thrown away
replies() { wait_for 60 is_asked "$1" && types "$1" "$2" || { cat "$work/$1.screen"; return 1; }; }
is_asked() { [[ $(tail -c 11 "$work/$1.screen") == 'd details] ' ]]; }
shows() { wait_for "${3:-40}" grep -qE -- "$2" "$work/$1.screen" || { cat "$work/$1.screen"; return 1; }; }
ends() {
  wait_for 120 test -s "$work/$1.status" && [[ $(<"$work/$1.status") == "$2" ]] ||
    { echo "ended with $(cat "$work/$1.status"), not $2:"; cat "$work/$1.screen"; return 1; }
}
# refused CODE PATTERN COMMAND...: it exits so and says so: each run of a command counts under emulation
refused() {
  local code=$1 pattern=$2 status=0
  shift 2
  "$@" >"$work/refused" 2>&1 || status=$?
  [[ $status == "$code" ]] && grep -qE -- "$pattern" "$work/refused" ||
    { echo "status $status, wanted $code and '$pattern':"; cat "$work/refused"; return 1; }
}
# spawn NAME USER COMMAND...: in the background; what it prints is in NAME.out. end PROGRAM: kills it, by its file's name
spawn() {
  local name=$1 user=$2 as_folder=/
  shift 2
  : >"$work/$name.out"
  as "$user" "$@" >"$work/$name.out" 2>&1 </dev/null &
}
# says_in NAME PATTERN [SECONDS]
says_in() { wait_for "${3:-60}" grep -qE -- "$2" "$work/$1.out" || { cat "$work/$1.out"; return 1; }; }
end() {
  pkill -KILL -x "$1"
  wait_for 20 fails pgrep -x "$1"
}
bob() { local as_folder=/; as bob "$@"; }
# manager WORDS...: systemctl of alice's own service manager
manager() { as alice systemctl --user "$@"; }
# alone COMMAND...: as alice, without a terminal
alone() {
  local as_session=1
  as alice "$@" </dev/null
}
