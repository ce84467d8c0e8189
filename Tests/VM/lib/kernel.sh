# Brings Debian's stock kernel into the cache, unpacked and not installed, builds the one module that it lacks, and makes
# what QEMU boots. Sourced.
kernel=$cache/kernel
# Enough to reach the root and /out; everything else is loaded by modprobe from the unpacked package.
boot_modules=(virtio_pci virtio_mmio virtio_console virtio_blk 9pnet_virtio 9p overlay)

kernel_ready() { [[ -s $kernel/vmlinux && -s $kernel/version && -x $kernel/busybox ]]; }
# depmod's list comes last, so what it names is whole.
loopback_ready() { grep -qs '^extra/v4l2loopback\.ko:' "$kernel/lib/modules/$(cat "$kernel/version")/modules.dep"; }

# The package linux-image-amd64 is empty: its one dependency of that name has the files.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)/\1/p' | head -n 1
}

download_kernel() {
  local package work=$cache/download
  package=$(kernel_package)
  if [[ -z $package ]]; then
    say "the package lists are missing: apt-get update"
    apt-get update -qq || die $not_ready "apt-get update failed"
    package=$(kernel_package)
  fi
  [[ -n $package ]] || die $not_ready "no package linux-image-amd64 is to be had: see 'apt-cache policy linux-image-amd64'"
  rm -rf "$work"
  mkdir -p "$work"
  say "downloading $package and busybox-static"
  # Old lists may name a version that the mirror no longer has.
  (cd "$work" && { apt-get -q download "$package" busybox-static || { apt-get update -qq &&
    apt-get -q download "$(kernel_package)" busybox-static; }; }) >"$cache/download.log" 2>&1 ||
    die $not_ready "the download failed: $(tail -n 2 "$cache/download.log")"
  rm -rf "$kernel"
  mkdir -p "$kernel"
  # Only what is loaded: the modules and the kernel, not its map or documentation.
  dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb | tar -x -C "$kernel" ./boot ./lib/modules
  dpkg-deb --fsys-tarfile "$work"/busybox-static_*.deb | tar -x -C "$work" ./bin/busybox
  mv "$work/bin/busybox" "$kernel/busybox"
  local version
  version=$(basename "$kernel"/lib/modules/*)
  PATH=$PATH:/sbin:/usr/sbin depmod -b "$kernel" "$version"
  python3 "$vm/lib/image.py" vmlinux "$kernel/boot/vmlinuz-$version" "$kernel/vmlinux"
  rm -rf "$work" "$kernel/boot"
  echo "$version" >"$kernel/version"
  say "kernel $version is in $kernel"
}

# The source of v4l2loopback, and the headers of exactly the kernel that is in the cache with what they build with. Fails
# where the mirror has left that kernel behind.
download_loopback() {
  local work=$cache/download
  rm -rf "$work"
  mkdir -p "$work"
  say "downloading v4l2loopback and the headers of $(cat "$kernel/version")"
  (cd "$work" && { loopback_packages || { apt-get update -qq && loopback_packages; }; }) >"$cache/download.log" 2>&1
}
loopback_packages() {
  local headers
  headers=linux-headers-$(cat "$kernel/version")
  apt-get -q download v4l2loopback-dkms "$headers" \
    $(apt-cache depends "$headers" | sed -n 's/^ *Depends: *\(linux-headers-.*-common\|linux-kbuild-.*\)/\1/p')
}

build_loopback() {
  local version package sources work=$cache/download
  version=$(cat "$kernel/version")
  for package in "$work"/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work" ./usr; done
  sources=$(echo "$work"/usr/src/v4l2loopback-*)
  # One package of headers names the other by where it would be if it were installed.
  sed -i "s|^include /usr/src/|include $work/usr/src/|" "$work/usr/src/linux-headers-$version/Makefile"
  # The compiler that they ask for by its version is Debian's gcc.
  make -C "$work/usr/src/linux-headers-$version" "M=$sources" CC=gcc modules >"$cache/build.log" 2>&1 ||
    die $not_ready "v4l2loopback cannot be built ($cache/build.log): $(tail -n 2 "$cache/build.log")"
  mkdir -p "$kernel/lib/modules/$version/extra"
  strip -g -o "$kernel/lib/modules/$version/extra/v4l2loopback.ko" "$sources/v4l2loopback.ko"
  PATH=$PATH:/sbin:/usr/sbin depmod -b "$kernel" "$version"
  rm -rf "$work"
  say "v4l2loopback is among the modules of $version"
}

# Made again whenever the init in this folder, the kernel or the maker is younger.
make_initramfs() {
  local newest=$kernel/initramfs.cpio
  if [[ ! -s $newest || $vm/guest/initramfs-init -nt $newest || $vm/lib/image.py -nt $newest ||
    $vm/lib/kernel.sh -nt $newest || $kernel/version -nt $newest ]]; then
    python3 "$vm/lib/image.py" initramfs "$newest" "$kernel/busybox" "$vm/guest/initramfs-init" \
      "$kernel/lib/modules/$(cat "$kernel/version")" "${boot_modules[@]}"
  fi
}

# Two machines started at once must not both unpack.
ensure_kernel() {
  kernel_ready && loopback_ready && { make_initramfs; return; }
  local missing
  missing=$(host_packages)
  [[ -z $missing ]] || die $not_ready "missing on this host: run Tests/VM/setup, or: apt-get install $missing"
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  kernel_ready || download_kernel
  if ! loopback_ready; then
    download_loopback || {
      download_kernel
      download_loopback || die $not_ready "the download failed: $(tail -n 2 "$cache/download.log")"
    }
    build_loopback
  fi
  make_initramfs
  flock -u 9
  exec 9>&-
}
