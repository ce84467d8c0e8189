# The container flavour: the host's own kernel, with processes, files, network and control groups of its own, and systemd as
# process 1. Sourced by machine. It has no drivers: for suites that do with synthetic devices.
. "$vm/lib/layer.sh"

# can_contain: whether this host lets us. The answer costs a tenth of a second.
can_contain() {
  ((EUID == 0)) && [[ -n $(cgroups) ]] &&
    unshare --mount --pid --fork --ipc --uts --net --cgroup sh -c "$contained_files" 2>/dev/null
}
# The kernel loads what makes these when they are opened.
contained_files='mount -t tmpfs tmpfs /mnt && mknod /mnt/loop c 10 237 && mknod /mnt/fuse c 10 229 &&
  : <>/mnt/loop && : <>/mnt/fuse'
cgroups() { findmnt --noheadings --first-only --output TARGET --types cgroup2; }

machine_command() {
  can_contain ||
    die $not_ready "--container takes root, namespaces, control groups of version 2, FUSE and loop devices"
  make_layer "$out/.machine/layer" "$systemd"
  command=(bash "$vm/guest/contain" "$out" "$(cgroups)/capture-test.$$")
}
