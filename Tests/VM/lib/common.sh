# Shared by the host's scripts: where things are, and how they speak. Sourced, never run.
vm=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checkout=$(cd "$vm/../.." && pwd)
# Everything that is downloaded or derived lies here, and is made again when it is missing.
cache=${CAPTURE_TEST_CACHE:-$checkout/.build/test-machine}
# The machine's own statuses. A command's own may be the same number: the sentence on stderr tells them apart.
timed_out=124 died=125 not_ready=69

say() { printf '%s: %s\n' "${me:-machine}" "$*" >&2; }
die() { local status=$1; shift; say "$@"; exit "$status"; }

# Debian's packages that the stock machine takes on the host, by a file that shows each.
host_packages() {
  local need=()
  command -v qemu-system-x86_64 >/dev/null || need+=(qemu-system-x86)
  command -v python3 >/dev/null || need+=(python3)
  command -v depmod >/dev/null || [[ -x /sbin/depmod ]] || need+=(kmod)
  command -v mkfs.ext4 >/dev/null || [[ -x /sbin/mkfs.ext4 ]] || need+=(e2fsprogs)
  # What a module of the kernel is built with, and its object tool's library.
  command -v make >/dev/null || need+=(make)
  command -v gcc >/dev/null || need+=(gcc)
  [[ -e /usr/lib/x86_64-linux-gnu/libelf.so.1 ]] || need+=(libelf1)
  echo "${need[*]}"
}

# What the fast kernel is built with beside that.
fast_packages() {
  local need=()
  command -v bison >/dev/null || need+=(bison)
  command -v flex >/dev/null || need+=(flex)
  command -v bc >/dev/null || need+=(bc)
  command -v xz >/dev/null || need+=(xz-utils)
  [[ -e /usr/include/stdio.h ]] || need+=(libc6-dev)
  echo "${need[*]}"
}

# Debian's packages that the inside of the machine takes: the host's root is the machine's root.
guest_packages() {
  local need=()
  [[ -x /usr/lib/systemd/systemd || -x /lib/systemd/systemd ]] || need+=(systemd systemd-sysv)
  [[ -x /lib/systemd/systemd-udevd || -x /usr/lib/systemd/systemd-udevd ]] || need+=(udev)
  [[ -e /usr/lib/x86_64-linux-gnu/security/pam_systemd.so || -e /lib/x86_64-linux-gnu/security/pam_systemd.so ]] ||
    need+=(libpam-systemd)
  command -v dbus-daemon >/dev/null || need+=(dbus)
  [[ -e /usr/lib/systemd/user/dbus.socket ]] || need+=(dbus-user-session)
  [[ -x /usr/lib/polkit-1/polkitd ]] || need+=(polkitd)
  command -v v4l2-ctl >/dev/null || need+=(v4l-utils)
  command -v aplay >/dev/null || need+=(alsa-utils)
  command -v ffprobe >/dev/null || need+=(ffmpeg)
  command -v strace >/dev/null || need+=(strace)
  command -v dmsetup >/dev/null || [[ -x /sbin/dmsetup ]] || need+=(dmsetup)
  echo "${need[*]}"
}
