# Accounts of what was asked of the store of answers and of a media library, a line each, and how many of these were
# acknowledged: what a disk holds after a power cut or a kill is compared with them. On the host's disk: an account that
# were kept on the store's own would bring what belongs to the store to the disk with it.
# shellcheck shell=bash

answers_account=/out/answers answers_done=/out/answers.done
library_account=/out/library library_done=/out/library.done
# A line for each time that the clock was set two days on, done or not: time that the library has seen pass does not
# pass for it again, so that after a boot whose clock begins before the last one's end nothing in the bin would grow
# older.
leaps=/out/leaps

new_accounts() {
  : >$answers_account && : >$library_account && : >$leaps && echo 0 >$answers_done && echo 0 >$library_done
}
# acknowledge FILE NUMBER
acknowledge() { echo "$2" >"$1.new" && sync "$1.new" && mv "$1.new" "$1"; }
# has_acknowledged FILE NUMBER
has_acknowledged() { (($(<"$1") >= $2)); }
# compare ACCOUNT FILE COMMAND...: $work/found is what `COMMAND ACCOUNT COUNT` prints for what was acknowledged, or for
# one more: what was being asked for just then may have come to the disk, and counts as acknowledged from now on.
compare() {
  local account=$1 file=$2 count
  shift 2
  count=$(<"$file")
  "$@" "$account" "$count" >"$work/before" && "$@" "$account" $((count + 1)) >"$work/after" || return
  if cmp -s "$work/found" "$work/before"; then
    sed -i "$((count + 1)),\$d" "$account"
  elif cmp -s "$work/found" "$work/after"; then
    echo $((count + 1)) >"$file"
  else
    diff "$work/before" "$work/found"
    return 1
  fi
}

# Answers: one in five takes the last program's answer back, others change the answer of one program to and fro.
answers_request() { # NUMBER
  local status=(denied authorized)
  if (($1 % 5 == 0)); then
    echo "reset unit:store-$((($1 - 1) % 3 ? $1 - 1 : $1 - 2)).service"
  elif (($1 % 3 == 0)); then
    echo "set unit:store-changed.service camera ${status[$1 % 2]}"
  else
    echo "set unit:store-$1.service microphone ${status[$1 / 2 % 2]}"
  fi
}
# write_answers COUNT [COMMAND...]: that many more; after each that was acknowledged COMMAND is run with its number.
# Ends when one is not.
write_answers() {
  local number words
  for ((number = $(<$answers_done) + 1, last = number + $1; number < last; number++)); do
    read -ra words < <(answers_request "$number")
    echo "${words[*]}" >>$answers_account
    sync $answers_account
    capturectl auth "${words[@]}" >/dev/null || return
    acknowledge $answers_done "$number"
    (($# == 1)) || "${@:2}" "$number" || return
  done
}
# answers_hold: the store has what was acknowledged and nothing else but what alice's command may
answers_hold() {
  answers >"$work/answers" || { cat "$work/answers"; return 1; }
  grep -v "^alice $capturectl_program " "$work/answers" | sed 's/^root //' | LC_ALL=C sort >"$work/found"
  compare $answers_account $answers_done "$store_tools/after"
}

# Eight requests of the library, over and over: three photos come, one of which has the content that is another's edit.
# library_request NUMBER: its line of the account
library_request() {
  local round=$((($1 - 1) / 8))
  case $((($1 - 1) % 8)) in
    0) echo "add $round.a $(picture $((4 * round)))" ;;
    1) echo "add $round.b $(picture $((4 * round + 1)))" ;;
    2) echo "edit $round.a $(picture $((4 * round + 2)))" ;;
    3) echo "delete $round.b" ;;
    4) echo "add $round.c $(picture $((4 * round + 2)))" ;;
    5) echo "revert $round.a" ;;
    6) echo "edit $round.a $(picture $((4 * round + 3)))" ;;
    7) echo empty ;;
  esac
}
# picture NUMBER: makes it, and tells its hash, which is the file's name
picture() {
  local name
  pixel "$1" "$work/picture" && name=$(digest "$work/picture") && mv "$work/picture" "/home/alice/$name" && echo "$name"
}
# performs LINE...: as alice
performs() {
  local id
  case $1 in
    add) alone capturectl library add --name "$2" "$3" ;;
    empty) empties >&2 ;;
    *) id=$("$store_tools/library" id $libraries/1000 "$2") && [[ -n $id ]] || return
      case $1 in
        edit) alone capturectl library edit "$id" "$3" ;;
        revert) alone capturectl library revert "$id" ;;
        delete) confirmed delete "$id" ;;
      esac ;;
  esac >/dev/null
}
# confirmed COMMAND...: alice says yes on the terminal of the command
confirmed() {
  rm -f "$work"/confirmed.*
  terminal confirmed capturectl library "$@"
  wait_for 60 asked_or_over && [[ ! -s $work/confirmed.status ]] && types confirmed y
  wait_for 60 test -s "$work/confirmed.status"
  exec {keys}>&-
  [[ $(<"$work/confirmed.status") == 0 ]]
}
asked_or_over() { is_asked confirmed || [[ -s $work/confirmed.status ]]; }
# Two days later the daemon finds the bin's time over when it starts. A container has the host's clock: there alice
# empties it.
empties() {
  if [[ $flavour == container ]]; then
    confirmed empty
  else
    echo leap >>$leaps && sync $leaps && date -s '+2 days' >/dev/null &&
      systemctl reset-failed captured && systemctl restart captured && wait_for 240 is_emptied
  fi
}
is_emptied() { ! "$store_tools/library" at $libraries/1000 | grep ' binned$'; }
# go_on COUNT [COMMAND...]: that many more requests; after each that was acknowledged COMMAND is run with its number.
# Ends when one is not, or when there were enough.
go_on() {
  local number last began ended
  for ((number = $(<$library_done) + 1, last = number + $1; number < last; number++)); do
    [[ ! -e $work/enough ]] || return 0
    read -r began _ </proc/uptime
    library_request "$number" >>$library_account
    sync $library_account
    performs $(tail -n 1 $library_account) || return
    acknowledge $library_done "$number"
    read -r ended _ </proc/uptime
    echo "$began $ended" >"$work/took"
    (($# == 1)) || "${@:2}" "$number" || return
  done
}
# in_the_next: waits until no certain moment of the request that follows the last one, which took about as long
in_the_next() { sleep "$(awk -v part=$RANDOM '{ print ($2 - $1) * part / 32768 }' "$work/took")"; }
# library_holds: the library has what was acknowledged and nothing else; each of its files is whole; the daemon finds
# nothing wrong
library_holds() {
  sound_library && nothing_begun || return
  "$store_tools/library" at $libraries/1000 >"$work/found" || { cat "$work/found"; return 1; }
  compare $library_account $library_done "$store_tools/library" after
}
keeps_a_day() {
  configure bin '[Library]\nKeepDeletedFor=1d'
  reload_captured && may_use_library alice $capturectl_program all && begins
}
# The daemon has looked at the bin once when it starts with a library that is there.
begins() { alone capturectl library count && systemctl restart captured; }
