# Attacks on the installed daemon, each tried by an unprivileged program; what each must leave as it is.
# shellcheck shell=bash

attacks=$checkout/.build/attacks

# arm USER...: the attacks' programs, in the folders of those who try them
arm() {
  local user
  [[ -x $attacks/standing ]] || make -s -C "$vm/attacks" "OUT=$attacks" || return 1
  for user in "$@"; do
    mkdir -p "/home/$user/attacks" && cp -R "$attacks"/* "/home/$user/attacks/" && chown -R "$user:" "/home/$user" || return 1
  done
}

# attack NAME 'what it tries' STATUS 'what it is told' 'what the journal says' COMMAND...: the command ends with that status
# (77 for a program of attacks/, which has got nothing) and prints a line that matches; the journal has an entry of the
# daemon's that matches; no answer is another than before, no use is in the history, and no session came or went. The
# patterns are extended regular expressions. Prints what was refused, and how that shows.
attack() {
  local name=$1 tries=$2
  attack_told='' attack_shown=''
  it "$name is refused: $tries" attacked "${@:3}"
  echo "# attack $name: tried: $tries; was told: ${attack_told:-nothing of the kind}; the journal: ${attack_shown:-nothing of the kind}"
}
attacked() {
  local wanted=$1 told=$2 shown=$3 status=0
  shift 3
  journal_since new || return 1
  wait_for 60 nothing_rests || return 1
  "$@" >"$work/told" 2>&1 || status=$?
  attack_told=$(grep -m 1 -E -- "$told" "$work/told") && [[ $status == "$wanted" ]] ||
    { echo "status $status, wanted $wanted and '$told':"; cat "$work/told"; return 1; }
  wait_for 20 journal_shows "$shown" || { echo "no '$shown' in the journal:"; cat "$work/shown"; return 1; }
  attack_shown=$(grep -m 1 -E -- "$shown" "$work/shown")
  # A use would be in the history before its first frame.
  wait_for 60 stands
}
# A machine that is held up shows a session as suspended for a moment.
nothing_rests() { "$attacks/standing" >"$work/before" && ! grep ' suspended ' "$work/before"; }
stands() { "$attacks/standing" >"$work/after" && diff "$work/before" "$work/after"; }
# journal_since new: forgets what the daemon has said until now; without a word: collects what it has said since
journal_since() {
  journalctl --sync
  [[ ${1:-} != new ]] || rm -f "$work/shown" "$work/cursor"
  local from=(--cursor-file="$work/cursor")
  if [[ -e $work/cursor ]]; then
    journalctl -q -b -o cat --no-pager _SYSTEMD_UNIT=captured.service "${from[@]}" >>"$work/shown"
  else
    journalctl -q -b -o cat --no-pager -n 1 _SYSTEMD_UNIT=captured.service "${from[@]}" >/dev/null
  fi
}
journal_shows() { journal_since && grep -qE -- "$1" "$work/shown"; }
