# Makes on the host the layer that each machine lays over the host's root, below its throw-away overlay: each of these
# files takes a process inside, where a process is slow. Sourced.
. "$vm/guest/people.sh"

make_layer() { # make_layer FOLDER SYSTEMD
  mkdir -p "$1/etc"
  make_people "$1/etc"
  (($2)) || return 0
  : >"$1/etc/fstab"
  # systemd-tmpfiles would walk the host's /tmp
  mkdir -p "$1"/etc/{tmpfiles.d,udev/rules.d,systemd/system}
  ln -s /dev/null "$1/etc/tmpfiles.d/tmp.conf"
  # The emulated board's own hardware needs no drivers; what a test plugs in does.
  echo 'ACTION!="remove", SUBSYSTEM=="usb", ENV{MODALIAS}=="?*", RUN{builtin}+="kmod load"' \
    >"$1/etc/udev/rules.d/80-drivers.rules"
  ln -s /dev/null "$1/etc/udev/rules.d/90-alsa-restore.rules"
  # A kernel without audit would look for its module at each login. This one has it, and nothing to note.
  mkdir -p "$1/etc/systemd/journald.conf.d"
  printf '[Journal]\nAudit=no\n' >"$1/etc/systemd/journald.conf.d/machine.conf"
  # Generators run before everything else, one process each, and here they find nothing. Those of users run at each login.
  local generator folder unit
  for folder in system-generators user-generators user-environment-generators; do
    mkdir -p "$1/etc/systemd/$folder"
    for generator in "/lib/systemd/$folder"/*; do
      [[ ! -e $generator ]] || ln -s /dev/null "$1/etc/systemd/$folder/${generator##*/}"
    done
  done
  for unit in $(masked_units); do ln -s /dev/null "$1/etc/systemd/system/$unit"; done
  make_units "$1/etc/systemd/system"
}

# Nothing that only a long-lived or a hardware machine has, and nothing that the init has already done.
masked_units() {
  printf '%s\n' apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer man-db.timer \
    dpkg-db-backup.timer ldconfig.service getty.target alsa-restore.service alsa-state.service \
    systemd-{tmpfiles-clean.timer,binfmt.service,pstore.service,random-seed.service,update-utmp.service} \
    systemd-journald-audit.socket \
    systemd-{journal-flush,hwdb-update,machine-id-commit,firstboot,boot-system-token,remount-fs,timesyncd}.service \
    systemd-{modules-load,sysctl,sysusers,tmpfiles-setup-dev,repart}.service \
    systemd-ask-password-{wall,console}.path kmod-static-nodes.service \
    modprobe@{configfs,drm,efi_pstore,fuse,loop,dm_mod}.service proc-sys-fs-binfmt_misc.{automount,mount} \
    sys-kernel-{debug,tracing}.mount dev-{hugepages,mqueue}.mount sys-fs-fuse-connections.mount
}

make_units() {
  # Coldplug of the subsystems that matter here; hundreds of ttys, memory blocks and ACPI nodes would take seconds.
  mkdir "$1"/systemd-{udev-trigger,tmpfiles-setup}.service.d
  {
    printf '[Service]\nExecStart=\nExecStart=-udevadm trigger --action=add'
    printf ' --subsystem-match=%s' video4linux media sound block misc mem usb udc rc
    echo
  } >"$1/systemd-udev-trigger.service.d/machine.conf"
  printf '[Service]\nExecStart=\nExecStart=systemd-tmpfiles --create --boot --prefix=/run --prefix=/var/log\n' \
    >"$1/systemd-tmpfiles-setup.service.d/machine.conf"
  cat >"$1/test-machine.service" <<U
[Unit]
After=basic.target
FailureAction=poweroff-force
[Service]
Type=exec
ExecStart=/run/test-machine/job
TimeoutStartSec=infinity
U
  cat >"$1/test-machine.target" <<U
[Unit]
Requires=basic.target test-machine.service
After=basic.target
U
}
