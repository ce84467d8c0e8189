#!/bin/bash
# The store of answers when the machine goes down while answers are written: what was acknowledged is there, what was
# never given is not. The daemon is killed again and again, and a log of all writes to a disk is replayed to many
# points. 33-store-cuts has a power cut.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# An emulated processor takes half a minute for each kill, and more than a second for each point.
kills=10 answers=40 points=100
! emulated || kills=4 answers=20 points=40

# Killed while two clients set answers, each in a row: one of three changes the answer of one program to and fro. A line
# of what was asked for, and one when it was acknowledged.
sets() {
  local number words status=(denied authorized)
  for ((number = 1; ; number++)); do
    [[ ! -e $work/enough ]] || return 0
    words="unit:killed-$1-$((number % 3 ? number : 0)).service microphone ${status[number / 3 % 2]}"
    echo "asked root $words" >>"$work/sets$1"
    # The daemon is killed in between: that one more or less fails is what this is about.
    capturectl auth set $words >/dev/null 2>&1 && echo told >>"$work/sets$1"
  done
}
told() { grep -c told "$work/sets$1"; }
more_told() { (($(told 1) > $1 && $(told 2) > $2)); }
kills() {
  local count=$1 number clients
  : >"$work/sets1" && : >"$work/sets2"
  sets 1 &
  clients=$!
  sets 2 &
  clients+=" $!"
  for ((number = 1; number <= count; number++)); do
    wait_for 120 more_told "$(told 1)" "$(told 2)" || break
    # At no certain moment of the next.
    sleep 0.$((RANDOM % 10))
    kill_hard captured || break
    systemctl reset-failed captured 2>/dev/null
  done
  touch "$work/enough"
  wait $clients
  ((number > count))
}
# keeps: of each program the store has what was acknowledged last, or what was asked for since, and knows no other
keeps() {
  answers >"$work/found" || { cat "$work/found"; return 1; }
  grep 'unit:killed-' "$work/found" | cat - "$work/sets1" "$work/sets2" | awk '
    $1 == "root" { found[$2] = $4 }
    $1 == "asked" { asked = $3; last = $5; since[asked] = since[asked] " " last; programs[asked] }
    $1 == "told" { sure[asked] = last; since[asked] = ""; told++ }
    END {
      for (p in programs) {
        has = p in found ? found[p] : "nothing"
        count += p in found
        if (has != (p in sure ? sure[p] : "nothing") && !index(since[p], " " has)) { print p, "has", has, "not", sure[p]; bad = 1 }
      }
      for (p in found) if (!(p in programs)) { print p, "was never asked for"; bad = 1 }
      print told, "acknowledged,", count, "programs"
      exit bad || !told
    }'
}

# points ACCOUNT COUNT [POINT]
points() { "$store_tools/points" "${what_was_logged[@]}" "$@"; }
# The daemon itself at one point of them.
agrees_at() {
  local status
  points $answers_account 200 "$1" >$answers_done && systemctl start captured && cp $answers_account "$work/account" &&
    answers_hold
  status=$?
  cp "$work/account" $answers_account
  systemctl stop captured && umount $state && return $status
}

it "what is stored lies on a disk" state_on_disk
it "captured serves" start_captured
it "it is killed $kills times while two clients set answers" kills $kills
it "every answer that was acknowledged is there, and none that was not asked for" keeps
it "captured stops" systemctl stop captured
it "its disk goes" umount $state
new_accounts
it "a disk's writes are logged" mount_logged 16M
it "captured serves on it" systemctl start captured
it "$answers answers are given, each marked in the log when it is acknowledged" write_answers $answers mark
it "the log is complete" unmount_logged
it "at $points points of it the store has what was acknowledged, and nothing that was not asked for" \
  points $answers_account $points
cat "$work/output"
it "though another answer would be noticed" expect_exit 1 points <(sed '7s/$/x/' $answers_account) 20
it "captured itself agrees in the middle" agrees_at 90
it "and further on" agrees_at 171
finish
