# Alice's recordings, and what becomes of them when the daemon dies. A suite sets `picture` and `sound`, the options of
# each kind of recording.
# shellcheck shell=bash

# recording NAME FILE OPTION...: alice's `capturectl record` in the background, until it has captured two seconds; its
# session's number is in `id`, its status goes to NAME.status
recording() {
  local name=$1 file=$2 before
  shift 2
  before=$(newest_session)
  rm -f "/home/alice/$file"
  (alone capturectl record "$@" "$file" >"$work/$name.out" 2>&1; echo $? >"$work/$name.status") &
  # Its file may be there before its session is.
  wait_for 60 session_after "$before" && wait_for 60 has_recorded "$id" 2 ||
    { cat "$work/$name.out"; return 1; }
}
session_after() { id=$(newest_session) && [[ -n $id && $id != "$1" ]]; }
# started FILE OPTION...: the same with `capturectl start`, which does not stay
started() {
  local file=$1
  shift
  rm -f "/home/alice/$file"
  id=$(alone capturectl start "$@" "$file") && wait_for 60 has_recorded "$id" 2
}
ended() { wait_for 60 test -s "$work/$1.status" && [[ $(<"$work/$1.status") == "$2" ]] ||
  { echo "ended with $(cat "$work/$1.status"), not $2:"; cat "$work/$1.out"; return 1; }; }
recorders() { systemctl list-units --plain --no-legend --state=active 'captured-recorder@*' | awk '{ print $1 }'; }
recorders_are() { [[ $(recorders | wc -l) == "$1" ]] || { recorders; return 1; }; }
# finished FILE: playable, and with the length that is written into it at the end
finished() { playable "$1" && [[ $(duration "$1") != N/A && -n $(duration "$1") ]]; }
# frames_of ID; whole FILE FRAMES: all that were in it when it was looked at, and it was finished
frames_of() {
  facts capturectl status --json "$1" && awk -F= '/^statistics\.outputs\.[^.]*\.frames=/ { print $2 }' "$work/facts"
}
whole() {
  finished "$1" && (($(frame_count "$1") >= $2)) ||
    { echo "$(frame_count "$1") frames of $2, $(duration "$1") s"; return 1; }
}
new_daemon() { active captured && [[ $(main_pid captured) != "$1" ]]; }
works() {
  rm -f /home/alice/next.wav && alone capturectl record "${sound[@]}" --duration 1 next.wav &&
    playable /home/alice/next.wav
}

# daemon_dies NAME PATTERN COMMAND...: what kills the daemon while two record, one of them by itself
daemon_dies() {
  local name=$1 pattern=$2 before frames
  shift 2
  systemctl reset-failed captured 2>/dev/null
  it "$name: a sound file records by itself" started "$name.flac" "${sound[@]}"
  it "$name: a movie is recorded" recording "$name" "$name.mp4" "${picture[@]}"
  it "$name: each has a recorder" recorders_are 2
  before=$(main_pid captured)
  frames=$(frames_of "$id")
  it "$name: the daemon is killed" "$@"
  it "$name: the client is told" ended "$name" 69
  it "$name: systemd starts another daemon" wait_for 90 new_daemon "$before"
  it "$name: the journal says of what" wait_for 20 journal_says captured "$pattern"
  it "$name: the recorders finish" wait_for 60 recorders_are 0
  it "$name: the movie is whole to its last frame" whole "/home/alice/$name.mp4" "$frames"
  it "$name: so is the sound" finished "/home/alice/$name.flac"
  it "$name: none of them failed" fails journal_says 'captured-recorder@*' 'Failed with result'
  it "$name: the next start works" works
}
