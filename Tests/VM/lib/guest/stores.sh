# Attacks on what answers are kept in, and damage to it: what 61-attacks-answers tries, by its own `attack_aside`.
# shellcheck shell=bash

state=/var/lib/captured
store=$state/authorization.sqlite

# What is around the store.
around() {
  allow alice microphone
  keep
  local before
  before=$(cksum $store)
  it "a user cannot write to the store" fails as alice sh -c "echo x >>$store"
  it "nor see what is beside it" fails as alice ls $state
  it "nor put a link there" fails as alice ln -s /home/alice/forged $state/authorization.sqlite-journal
  it "nor move the folder away" fails as alice mv $state /tmp/taken
  it "nor put a folder in the place of the runtime's" fails as alice sh -c 'mv /run/captured /tmp/taken || touch /run/captured/x'
  it "the store is as it was" test "$(cksum $store)" = "$before"
  cp $store /home/alice/forged && chown alice /home/alice/forged
  swapped "a link to a copy" 'is not a regular file' ln -s /home/alice/forged $store
  swapped "a copy that a user could write" 'belongs to uid 1000' cp -p /home/alice/forged $store
  swapped "a second name for the user's file" 'is not a regular file of one name|belongs to uid 1000' linked
  swapped "a folder" 'is not a regular file' mkdir $store
  mv $state /var/lib/aside
  install -d -o alice -m 700 $state && cp -p /home/alice/forged $store
  attack_aside "a user's folder in the state directory's place" 'belongs to uid 1000|cannot be|No such'
  rm -rf $state && mv /var/lib/aside $state
  it "what was there before counts again" expect_exit 0 alone capturectl record --camera none --duration 1 around.wav
  forget
}
linked() { cp -p /home/alice/forged $state/own && ln $state/own $store; }
# swapped WHAT REASON COMMAND...: the command puts something in the store's place while the daemon runs
swapped() {
  local what=$1 reason=$2
  shift 2
  mv $store $state/aside
  "$@"
  attack_aside "$what in the store's place" "$reason"
  rm -rf $store $state/own && mv $state/aside $store
}

# damaged NAME REASON COMMAND...: after the command, run while the daemon is down, every start is refused for that reason
damaged() {
  local name=$1 reason=$2 before
  shift 2
  systemctl stop captured
  rm -rf $state && cp -a "$work/state" $state
  "$@"
  before=$(cksum $store 2>&1)
  systemctl reset-failed captured 2>/dev/null
  it "store $name: captured runs" systemctl start captured
  attack_aside "a start on a store $name" "$reason"
  it "store $name: it is kept as it is" test "$(cksum $store 2>&1)" = "$before"
  it "store $name: doctor tells what mends it" store_mends "$reason"
  ! mountpoint -q $state || { systemctl stop captured; umount $state; }
}
store_mends() {
  local status=0
  capturectl doctor >"$work/doctor" 2>&1 || status=$?
  grep -A1 'PROBLEM store' "$work/doctor" | grep -qE "$1" && grep -A1 'PROBLEM store' "$work/doctor" | grep -q 'fix it' &&
    [[ $status == 78 ]] || { echo "status $status"; cat "$work/doctor"; return 1; }
}
store_newer() { "$python" -c "import sqlite3; d = sqlite3.connect('$store'); d.execute('PRAGMA user_version = 99'); d.close()"; }
store_read_only() { mount --bind $state $state && mount -o remount,bind,ro $state; }
store_on_full_disk() {
  mount -t tmpfs -o size=64K,mode=0700,uid=captured,gid=captured tmpfs $state
  head -c 1M /dev/zero >$state/ballast 2>/dev/null
}

stores_of_answers() {
  allow alice microphone
  systemctl stop captured
  cp -a $state "$work/state"
  damaged 'of random bytes' 'damaged|not a database' dd if=/dev/urandom of=$store bs=4096 count=4 conv=notrunc status=none
  damaged 'cut short' 'damaged|malformed|cut off' truncate -s 5000 $store
  damaged 'empty' 'cut off' truncate -s 0 $store
  damaged 'of another owner' 'belongs to uid 0' chown root $store
  damaged 'open to others' 'mode 0644' chmod 0644 $store
  damaged 'of a newer version' 'newer|version' store_newer
  damaged 'that is read-only' 'read-only|Read-only|written' store_read_only
  damaged 'on a full disk' 'full|No space' store_on_full_disk
  systemctl stop captured
  rm -rf $state
  it "store missing: a user cannot bring another" fails as alice sh -c "mkdir $state && cp /home/alice/forged $store"
  it "store missing: captured runs" systemctl start captured
  it "store missing: a new one is made" test -s $store
  it "store missing: nothing is in it" stores_nothing
  it "store missing: it is nobody else's" test "$(stat -c %a%U $store)" = 600captured
  it "store missing: and starts ask" expect_exit 75 alone capturectl start --camera none aside.wav
  it "store missing: no file is left of any" fails test -e /home/alice/aside.wav
  systemctl reset-failed captured 2>/dev/null
  keep
}
