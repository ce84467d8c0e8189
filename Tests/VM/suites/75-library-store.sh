#!/bin/bash
# The media library when the machine goes down while it is added to, edited, deleted from and its bin emptied: what was
# acknowledged is there with its contents, and index and files agree. The daemon is killed again and again, and a log of
# all writes to a disk is replayed to many points. 33-store-cuts has a power cut.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# An emulated processor takes eight seconds for a request, half a minute for a kill.
kills=4 requests=16 points=100
! emulated || kills=2 requests=8 points=40

# Killed at no certain moment of a request, which is then looked for, and asked for again if it was not done.
kills() {
  local number writer
  for ((number = 1; number <= $1; number++)); do
    go_on 100 2>"$work/writer" &
    writer=$!
    wait_for 600 has_acknowledged $library_done $(($(<$library_done) + 1)) ||
      { tail -n 2 $library_account; cat "$work/writer"; journalctl --no-pager -n 20 -u captured; return 1; }
    in_the_next
    touch "$work/enough"
    # It may be on its way back from a request's restart, and have no number.
    wait_for 60 kill_hard captured || return
    wait $writer
    rm "$work/enough"
    wait_for 60 active captured && library_holds || { tail -n 2 $library_account; return 1; }
    # Not before: of a unit that waits for its restart, this would be the end.
    systemctl reset-failed captured 2>/dev/null
  done
  echo "# $(<$library_done) acknowledged"
}

serves_logged() { systemctl start captured && may_use_library alice $capturectl_program all && begins; }
# points ACCOUNT COUNT [POINT]
points() { "$store_tools/library" points "${what_was_logged[@]}" library/1000 "$@"; }
# The daemon itself at one point of them, at a time when what is in the bin then is to stay there.
agrees_at() {
  local status
  [[ $flavour == container ]] || date -s "@$before" >/dev/null
  points $library_account 200 "$1" >$library_done && systemctl start captured && cp $library_account "$work/account" &&
    library_holds
  status=$?
  cp "$work/account" $library_account
  systemctl stop captured && umount $state && return $status
}

it "what is stored lies on a disk" state_on_disk
it "captured serves" start_captured
it "alice's command may use the library" keeps_a_day
new_accounts
it "it is killed $kills times, and has what was acknowledged and agrees with its files each time" kills $kills
cat "$work/output"
it "captured stops" systemctl stop captured
it "its disk goes" umount $state
new_accounts
before=$(date +%s)
it "a disk's writes are logged" mount_logged 512M
it "captured serves on it" serves_logged
it "$requests requests are done, each marked in the log when it is acknowledged" go_on $requests mark
it "the log is complete" unmount_logged
it "at $points points of it index and files agree, and what was acknowledged is there and nothing else" \
  points $library_account $points
cat "$work/output"
it "though another content would be noticed" expect_exit 1 points <(sed '1s/ [0-9a-f]*$/ 00/' $library_account) 20
it "captured itself agrees in the middle" agrees_at 111
it "and further on" agrees_at 177
finish
