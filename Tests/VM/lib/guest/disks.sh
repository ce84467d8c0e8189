# A disk of its own for what the daemon keeps, and what is recorded while that cannot be written.
# shellcheck shell=bash

image=/dev/shm/state

# state_on_disk: below $state. Without delayed allocation writes fail at once when it becomes read-only.
state_on_disk() {
  have_loops && truncate -s 600M $image &&
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 $image && mkdir -p "$state" && mount_image
}
have_loops() { [[ -e /dev/loop-control ]] || modprobe loop; }
# own_disk FOLDER SIZE: a disk of anybody's
own_disk() {
  have_loops && truncate -s "$2" /root/disk.img && mkfs.ext4 -q /root/disk.img && mkdir -p "$1" &&
    mount -o loop /root/disk.img "$1" && chmod 777 "$1"
}
# The kernel lets go of the loop device with the last mount of it.
mount_image() { mount -t ext4 -o loop,nodelalloc $image "$state"; }

# trigger_error: an error of the file system below $state
trigger_error() {
  local system=/sys device status=0
  device=$(findmnt --noheadings --output SOURCE "$state") || return
  # A container may not write to what all can see.
  if [[ $flavour == container ]]; then
    system=/mnt
    mount -t sysfs sysfs $system && mount -o remount,rw $system || return
  fi
  echo suite >"$system/fs/ext4/${device##*/}/trigger_fs_error" || status=$?
  [[ $system == /sys ]] || umount $system
  return $status
}

# What a program is told that cannot be written.
unwritable='cannot be (written|opened|recorded|made|used)|read-only|Read-only|readonly'
# records FILE: alice, a second of pictures; talks FILE: of sound
records() {
  alone capturectl record --camera "$(camera 1)" --microphone none --video-format "$(small 5)" --video-codec mjpeg \
    --duration 1 "$1"
}
talks() { alone capturectl record --camera none --duration 1 "$1"; }
# decodes FILE: without ffmpeg's constant frame rate, since a busy machine loses frames
decodes() {
  local format=rawvideo
  [[ $1 != *.wav ]] || format=s16le
  on_host "$1" ffmpeg -v error -xerror -nostdin -i {} -fps_mode passthrough -f $format -y /dev/null
}
