# KVM where it is shown to work with the stock kernel, else emulation. Sourced.
# A plain board without disks, smbus or keyboard, and a processor without AVX and ERMS: emulated, both are slower than what
# libraries use in their place (ffprobe's start 13 s against 5, copying 1 MB three times as long).
board=q35,sata=off,smbus=off,i8042=off,vmport=off
emulated=(-machine "$board" -accel tcg,thread=multi,tb-size=512 -cpu Nehalem)
accelerated=(-machine "$board" -accel kvm -cpu host)

# A /dev/kvm that opens may still hang a real kernel, so one is booted as far as its first process, with a time limit.
# The answer holds until this host starts anew.
accelerator() {
  local answer=$cache/kvm boot
  boot=$(cat /proc/sys/kernel/random/boot_id)
  if [[ $(sed -n 1p "$answer" 2>/dev/null) != "$boot" ]]; then
    printf '%s\n%s\n' "$boot" "$(probe_kvm)" >"$answer"
  fi
  if [[ $(sed -n 2p "$answer") == yes ]]; then echo "${accelerated[*]}"; else echo "${emulated[*]}"; fi
}

# The kernel's word for how fast the emulated processor's counter goes, which is the host's. A machine that has to wait for the
# host while it measures that for itself is wrong, and all its time with it: a minute took 17 seconds. It may not find more
# than a hundredth more or less than it is told.
counter_word() {
  local tsc=$cache/tsc
  if [[ ! $tsc -nt $vm/lib/tsc.c ]]; then
    # A processor of another kind has no such counter.
    gcc -O2 -o "$tsc.$$" "$vm/lib/tsc.c" 2>/dev/null && mv "$tsc.$$" "$tsc" || return 0
  fi
  echo "tsc_early_khz=$("$tsc")"
}

probe_kvm() {
  [[ -r /dev/kvm && -w /dev/kvm ]] || { echo no; return; }
  local log
  # Without a root its init says so and resets the machine: enough of a sign of life.
  log=$(timeout -k 2 "${CAPTURE_TEST_KVM_SECONDS:-15}" qemu-system-x86_64 "${accelerated[@]}" -m 512M -nodefaults \
    -no-user-config -display none -no-reboot -kernel "$kernel/vmlinux" -initrd "$kernel/initramfs.cpio" \
    -append "console=ttyS0 panic=-1 quiet" -serial stdio </dev/null 2>&1) || true
  if [[ $log == *"test machine: "* ]]; then echo yes; else echo no; fi
}
