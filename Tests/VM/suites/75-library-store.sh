#!/bin/bash
# The media library when the machine goes down while it is added to, edited, deleted from and its bin emptied: what was
# acknowledged is there with its contents, and index and files agree. The first boot ends in a power cut; in the second the
# daemon is killed again and again, and a log of all writes to a disk is replayed to many points.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast
# boots: 2
# cuts: 1
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

state=/var/lib/captured
tool=$checkout/.build/store/library
# What was asked of the library, a line each, and how many of them were acknowledged. On the host's disk: an account that
# were kept on the library's own would bring what belongs to the library to the disk with it.
account=/out/account
acknowledged=/out/acknowledged
# A line for each time that the clock was set two days on, done or not: time that the library has seen pass does not pass
# for it again, so that after a boot whose clock begins before the last one's end nothing in the bin would grow older.
leaps=/out/leaps

# An emulated processor takes eight seconds for a request, half a minute for a kill.
kills=4 requests=16 points=100
! emulated || kills=2 requests=8 points=40

# Eight requests, over and over: three photos come, one of which has the content that is another's edit.
# request N: its line of the account
request() {
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
    *) id=$("$tool" id $libraries/1000 "$2") && [[ -n $id ]] || return
      case $1 in
        edit) alone capturectl library edit "$id" "$3" ;;
        revert) alone capturectl library revert "$id" ;;
        delete) confirmed "$id" ;;
      esac ;;
  esac >/dev/null
}
# confirmed ID: deletes it, and says yes on the terminal of the command
confirmed() {
  rm -f "$work"/delete.*
  terminal delete capturectl library delete "$1"
  wait_for 60 asked_or_over && [[ ! -s $work/delete.status ]] && types delete y
  wait_for 60 test -s "$work/delete.status"
  exec {keys}>&-
  [[ $(<"$work/delete.status") == 0 ]]
}
asked_or_over() { is_asked delete || [[ -s $work/delete.status ]]; }
# Two days later the daemon finds the bin's time over when it starts.
empties() {
  echo leap >>$leaps && sync $leaps && date -s '+2 days' >/dev/null &&
    systemctl reset-failed captured && systemctl restart captured && wait_for 240 is_emptied
}
is_emptied() { ! "$tool" at $libraries/1000 | grep ' binned$'; }

# go_on COUNT [COMMAND...]: that many more requests; after each that was acknowledged COMMAND is run with its number. Ends
# when one is not, or when there were enough.
go_on() {
  local number last began ended
  for ((number = $(<$acknowledged) + 1, last = number + $1; number < last; number++)); do
    [[ ! -e $work/enough ]] || return 0
    read -r began _ </proc/uptime
    request "$number" >>$account
    sync $account
    performs $(tail -n 1 $account) || return
    echo "$number" >$acknowledged.new && sync $acknowledged.new && mv $acknowledged.new $acknowledged
    read -r ended _ </proc/uptime
    echo "$began $ended" >"$work/took"
    (($# == 1)) || "${@:2}" "$number" || return
  done
}
# in_the_next: waits until no certain moment of the request that follows the last one, which took about as long
in_the_next() { sleep "$(awk -v part=$RANDOM '{ print ($2 - $1) * part / 32768 }' "$work/took")"; }
has_acknowledged() { (($(<$acknowledged) >= $1)); }

# holds: the library has what was acknowledged and nothing else, but for what was being asked for just then, which may have
# come to the disk and counts as acknowledged from now on; each of its files is whole; the daemon finds nothing wrong
holds() {
  local count
  count=$(<$acknowledged)
  sound_library && nothing_begun || return
  "$tool" at $libraries/1000 >"$work/found" || { cat "$work/found"; return 1; }
  "$tool" after $account "$count" >"$work/before" && "$tool" after $account $((count + 1)) >"$work/after" || return
  if cmp -s "$work/found" "$work/before"; then
    sed -i "$((count + 1)),\$d" $account
  elif cmp -s "$work/found" "$work/after"; then
    echo $((count + 1)) >$acknowledged
  else
    diff "$work/before" "$work/found"
    return 1
  fi
}

prepare() {
  configure bin '[Library]\nKeepDeletedFor=1d'
  reload_captured && may_use_library alice $capturectl_program all && begins
}
# The daemon has looked at the bin once when it starts with a library that is there.
begins() { alone capturectl library count && systemctl restart captured; }

# Cut off after some requests, at no certain moment of the next.
begin_cut() {
  local first
  first=$(<$acknowledged)
  go_on 100 2>"$work/writer" &
  it "the library is changed" wait_for 600 has_acknowledged $((first + 1 + RANDOM % 3))
  in_the_next
  power_cut
}

# Killed at no certain moment of a request, which is then looked for, and asked for again if it was not done.
kills() {
  local number writer
  for ((number = 1; number <= $1; number++)); do
    go_on 100 2>"$work/writer" &
    writer=$!
    wait_for 600 has_acknowledged $(($(<$acknowledged) + 1)) ||
      { tail -n 2 $account; cat "$work/writer"; journalctl --no-pager -n 20 -u captured; return 1; }
    in_the_next
    touch "$work/enough"
    wait_for 60 is_killed || return
    wait $writer
    rm "$work/enough"
    systemctl reset-failed captured 2>/dev/null
    wait_for 60 active captured && holds || { tail -n 2 $account; return 1; }
  done
  echo "# $(<$acknowledged) acknowledged"
}
# It may be on its way back from a request's restart, and have no number.
is_killed() {
  local process
  process=$(main_pid captured)
  ((process > 0)) && kill -KILL "$process"
}

# A disk whose writes are logged. In memory, since it is not the one that goes down.
folder=/dev/shm/library
size=512M
mount_logged() {
  # Built into the fast kernel.
  [[ $flavour != stock ]] || modprobe -a loop dm-log-writes || return
  mkdir -p $folder && truncate -s $size $folder/disk && truncate -s 512M $folder/log &&
    mkfs.ext4 -q -F -b 4096 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 $folder/disk &&
    cp --sparse=always $folder/disk $folder/empty && disk=$(losetup --show -f $folder/disk) &&
    log=$(losetup --show -f $folder/log) &&
    dmsetup create --noudevrules --noudevsync library \
      --table "0 $(blockdev --getsz "$disk") log-writes $disk $log" &&
    mount -t ext4 "/dev/$(dmsetup info -c --noheadings -o blkdevname library)" $state && : >$account &&
    echo 0 >$acknowledged
}
serves_logged() { systemctl start captured && may_use_library alice $capturectl_program all && begins; }
mark() { dmsetup message library 0 mark "acknowledged-$1"; }
unmount_logged() {
  systemctl stop captured && umount $state && dmsetup remove --noudevrules --noudevsync library &&
    losetup -d "$disk" "$log" && truncate -s $size $folder/replayed && replayed=$(losetup --show -f $folder/replayed)
}
# points ACCOUNT COUNT [POINT]
points() { "$tool" points $folder/log $folder/empty "$replayed" $state library/1000 "$@"; }
# The daemon itself at one point of them, at a time when what is in the bin then is to stay there.
agrees_at() {
  local status
  date -s "@$before" >/dev/null && points $account 200 "$1" >$acknowledged && systemctl start captured && cp $account "$work/account" && holds
  status=$?
  cp "$work/account" $account
  systemctl stop captured && umount $state && return $status
}

logged() {
  local before
  before=$(date +%s)
  it "a disk's writes are logged" mount_logged
  it "captured serves on it" serves_logged
  it "$requests requests are done, each marked in the log when it is acknowledged" go_on $requests mark
  it "the log is complete" unmount_logged
  it "at $points points of it index and files agree, and what was acknowledged is there and nothing that was not asked for" \
    points $account $points
  cat "$work/output"
  it "though another content would be noticed" expect_exit 1 points <(sed '1s/ [0-9a-f]*$/ 00/' $account) 20
  it "captured itself agrees in the middle" agrees_at 111
  it "and further on" agrees_at 177
}

it "what is stored lies on a disk" mount_state $state
it "captured serves" start_captured
it "alice's command may use the library" prepare
if ((boot == 1)); then
  : >$account
  : >$leaps
  echo 0 >$acknowledged
  begin_cut
else
  before=${CAPTURE_TEST_INSTALLED%/*}/75-library-store/boot$((boot - 1))
  cp "$before"/{account,acknowledged,leaps} /out
  # The machine does not keep the clock of before the power cut.
  date -s "+$((2 * $(wc -l <$leaps))) days" >/dev/null
  it "what the $(<$acknowledged) requests that were acknowledged before the power cut came to is there, and no other" holds
fi
it "it is killed $kills times, and has what was acknowledged and agrees with its files each time" kills $kills
cat "$work/output"
it "captured stops" systemctl stop captured
it "its disk goes" umount $state
logged
finish
