# A disk below $state whose writes are logged, to be replayed to many points. In memory, since it is not the one that
# goes down.
# shellcheck shell=bash

# Where the file system of log_writes is: below /dev/shm systemd would look into it.
logged=/dev/shm/logged seen=/run/logged
store_tools=$checkout/.build/store

# mount_logged SIZE
mount_logged() {
  local disk log
  mkdir -p $logged $seen "$state" && truncate -s "$1" $logged/disk &&
    mkfs.ext4 -q -F -b 4096 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 $logged/disk &&
    cp --sparse=always $logged/disk $logged/empty || return
  if [[ $flavour == container ]]; then
    "$store_tools/log_writes" $seen $logged/disk $logged/log &
    logger=$!
    wait_for 20 test -e $seen/disk && mount -t ext4 -o loop $seen/disk "$state"
    return
  fi
  # Built into the fast kernel.
  [[ $flavour != stock ]] || modprobe -a loop dm-log-writes || return
  truncate -s 512M $logged/log && disk=$(losetup --show -f $logged/disk) && log=$(losetup --show -f $logged/log) &&
    dmsetup create --noudevrules --noudevsync logged --table "0 $(blockdev --getsz "$disk") log-writes $disk $log" &&
    mount -t ext4 "/dev/$(dmsetup info -c --noheadings -o blkdevname logged)" "$state" && logging=("$disk" "$log")
}
# mark NUMBER: so many are acknowledged
mark() {
  if [[ $flavour == container ]]; then
    echo "acknowledged-$1" >$seen/mark
  else
    dmsetup message logged 0 mark "acknowledged-$1"
  fi
}
unmount_logged() {
  systemctl stop captured && umount "$state" || return
  if [[ $flavour == container ]]; then
    wait_for 20 umount $seen && wait $logger
  else
    dmsetup remove --noudevrules --noudevsync logged && losetup -d "${logging[@]}"
  fi
}
# what_was_logged: the words by which the tools of store/ replay it below $state
what_was_logged=($logged/log $logged/empty $logged/replayed /var/lib/captured)
