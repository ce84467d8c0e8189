# The stock flavour: QEMU with Debian's kernel. Sourced by machine.
. "$vm/lib/layer.sh"

machine_command() {
  ensure_kernel
  make_layer "$out/.machine/layer" "$systemd"
  # Programs at the same addresses each time are translated once, and string instructions (REP_GOOD, 112) cost an emulated
  # processor more than a loop. No suite needs what the words from lsm to randomize_kstack_offset leave out.
  local words=(norandmaps console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable
    random.trust_cpu=on init_on_alloc=0 clearcpuid=112 lsm=landlock,yama
    cgroup.memory=nokmem psi=0 hardened_usercopy=off randomize_kstack_offset=off nowatchdog
    systemd.unified_cgroup_hierarchy=1 "${kargs[@]}")
  [[ $(accelerator) != *tcg* ]] || words+=($(counter_word))
  local shared=security_model=none,multidevs=remap
  command=(qemu-system-x86_64 $(accelerator) -smp "$cpus" -m "$mem" -nodefaults -no-user-config -display none -no-reboot
    -kernel "$kernel/vmlinux" -initrd "$kernel/initramfs.cpio" -append "${words[*]}"
    -serial "file:$out/kernel.log"
    -fsdev "local,id=root,path=/,readonly=on,$shared" -device "virtio-9p-pci,fsdev=root,mount_tag=root"
    -fsdev "local,id=out,path=$out,$shared" -device "virtio-9p-pci,fsdev=out,mount_tag=out"
    -device virtio-serial-pci -chardev stdio,id=console,signal=off -device virtconsole,chardev=console
    -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng)
  [[ -z $installed ]] || command+=(-fsdev "local,id=installed,path=$installed,readonly=on,$shared"
    -device "virtio-9p-pci,fsdev=installed,mount_tag=installed")
  [[ -z $disk ]] || command+=(-drive "file=$disk,format=raw,if=none,id=disk,cache=writeback"
    -device virtio-blk-pci,drive=disk)
}
