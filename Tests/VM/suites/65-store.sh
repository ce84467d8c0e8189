#!/bin/bash
# The store of answers when the machine goes down while answers are written: what was acknowledged is there,
# what was never given is not. The first boot ends in a power cut; in the second the daemon is killed again and again, and a
# log of all writes to a disk is replayed to many points.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast
# boots: 2
# cuts: 1
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

state=/var/lib/captured
tools=$checkout/.build/store
# What was asked of the store, a line each, and how many of them were acknowledged. On the host's disk: an account that
# were kept on the store's own would bring what belongs to the store to the disk with it.
account=/out/account
acknowledged=/out/acknowledged

# An emulated processor takes half a minute for each kill, and more than a second for each point.
kills=10 answers=40 points=100
! emulated || kills=4 answers=20 points=40

# request N: one in five takes the last program's answer back, others change the answer of one program to and fro.
request() {
  local status=(denied authorized)
  if (($1 % 5 == 0)); then
    echo "reset unit:store-$((($1 - 1) % 3 ? $1 - 1 : $1 - 2)).service"
  elif (($1 % 3 == 0)); then
    echo "set unit:store-changed.service camera ${status[$1 % 2]}"
  else
    echo "set unit:store-$1.service microphone ${status[$1 / 2 % 2]}"
  fi
}
# write_answers COUNT [COMMAND...]: that many more; after each that was acknowledged COMMAND is run with its number. Ends
# when one is not.
write_answers() {
  local number words
  for ((number = $(<$acknowledged) + 1, last = number + $1; number < last; number++)); do
    read -ra words < <(request "$number")
    echo "${words[*]}" >>$account
    sync $account
    capturectl auth "${words[@]}" >/dev/null || return
    echo "$number" >$acknowledged.new && sync $acknowledged.new && mv $acknowledged.new $acknowledged
    (($# == 1)) || "${@:2}" "$number" || return
  done
}
has_acknowledged() { (($(<$acknowledged) >= $1)); }

# holds: the store has what was acknowledged and nothing else, but for what was being asked for just then, which may have
# come to the disk and counts as acknowledged from now on.
holds() {
  local count
  count=$(<$acknowledged)
  answers >"$work/answers" || { cat "$work/answers"; return 1; }
  sed 's/^root //' "$work/answers" | LC_ALL=C sort >"$work/found"
  "$tools/after" $account "$count" >"$work/before" && "$tools/after" $account $((count + 1)) >"$work/after" || return
  if cmp -s "$work/found" "$work/before"; then
    sed -i "$((count + 1)),\$d" $account
  elif cmp -s "$work/found" "$work/after"; then
    echo $((count + 1)) >$acknowledged
  else
    diff "$work/before" "$work/found"
    return 1
  fi
}

# Cut off after some answers, at no certain moment of the next.
begin_cut() {
  local first
  first=$(<$acknowledged)
  write_answers 200 2>"$work/writer" &
  it "answers are given" wait_for 120 has_acknowledged $((first + 3 + RANDOM % 3))
  sleep 0.$((RANDOM % 10))
  power_cut
}

# Killed while two clients set answers, each in a row: one of three changes the answer of one program to and fro. A line of
# what was asked for, and one when it was acknowledged.
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

# A disk whose writes are logged. In memory, since it is not the one that goes down.
folder=/dev/shm/store
size=16M
mount_logged() {
  # Built into the fast kernel.
  [[ $flavour != stock ]] || modprobe -a loop dm-log-writes || return
  mkdir -p $folder && truncate -s $size $folder/disk && truncate -s 512M $folder/log &&
    mkfs.ext4 -q -F -b 4096 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 $folder/disk &&
    cp $folder/disk $folder/empty && disk=$(losetup --show -f $folder/disk) && log=$(losetup --show -f $folder/log) &&
    dmsetup create --noudevrules --noudevsync store \
      --table "0 $(blockdev --getsz "$disk") log-writes $disk $log" &&
    mount -t ext4 "/dev/$(dmsetup info -c --noheadings -o blkdevname store)" $state && : >$account && echo 0 >$acknowledged
}
mark() { dmsetup message store 0 mark "acknowledged-$1"; }
unmount_logged() {
  systemctl stop captured && umount $state && dmsetup remove --noudevrules --noudevsync store &&
    losetup -d "$disk" "$log" && truncate -s $size $folder/replayed && replayed=$(losetup --show -f $folder/replayed)
}
# points ACCOUNT COUNT [POINT]
points() { "$tools/points" $folder/log $folder/empty "$replayed" $state "$@"; }
# The daemon itself at one point of them.
agrees_at() {
  local status
  points $account 200 "$1" >$acknowledged && systemctl start captured && cp $account "$work/account" && holds
  status=$?
  cp "$work/account" $account
  systemctl stop captured && umount $state && return $status
}

logged() {
  it "a disk's writes are logged" mount_logged
  it "captured serves on it" systemctl start captured
  it "$answers answers are given, each marked in the log when it is acknowledged" write_answers $answers mark
  it "the log is complete" unmount_logged
  it "at $points points of it the store has what was acknowledged, and nothing that was not asked for" \
    points $account $points
  cat "$work/output"
  it "though another answer would be noticed" expect_exit 1 points <(sed '7s/$/x/' $account) 20
  it "captured itself agrees in the middle" agrees_at 90
  it "and further on" agrees_at 171
}

it "what is stored lies on a disk" mount_state $state
it "captured serves" start_captured
if ((boot == 1)); then
  : >$account
  echo 0 >$acknowledged
  begin_cut
else
  before=${CAPTURE_TEST_INSTALLED%/*}/65-store/boot$((boot - 1))
  cp "$before"/{account,acknowledged} /out
  it "the $(<$acknowledged) answers that were acknowledged before the power cut are there, and no other" holds
fi
it "it is killed $kills times while two clients set answers" kills $kills
it "every answer that was acknowledged is there, and none that was not asked for" keeps
it "captured stops" systemctl stop captured
it "its disk goes" umount $state
logged
finish
