# Builds the fast kernel into the cache: Debian's source of a kernel as a user-mode one, with v4l2loopback in it, of the
# configuration Tests/VM/fast.config. Sourced.
fast=$cache/fast
fast_source=linux-source-6.1
# Most of the source is drivers of hardware. Of these folders, only what describes the configuration is unpacked.
fast_omits=(drivers/{clk,crypto,gpu,iio,infiniband,misc,mtd,'net/*',pinctrl,scsi,staging}
  drivers/media/{dvb-frontends,i2c,pci,platform,tuners} sound/{pci,soc} tools/{perf,testing})

# The copy of the configuration comes last, so what it lies beside is whole.
fast_ready() { cmp -s "$vm/fast.config" "$fast/config"; }

ensure_fast_kernel() {
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  fast_ready || {
    local work=$cache/download
    rm -rf "$work" "$fast"
    mkdir -p "$work"
    say "downloading $fast_source and v4l2loopback"
    (cd "$work" && { fast_packages_here || { apt-get update -qq && fast_packages_here; }; }) >"$cache/download.log" 2>&1 ||
      die $not_ready "the download failed: $(tail -n 2 "$cache/download.log")"
    unpack_fast "$work"
    say "building the fast kernel, which takes minutes"
    build_fast "$work/$fast_source" >"$cache/build.log" 2>&1 ||
      die $not_ready "the fast kernel cannot be built ($cache/build.log): $(tail -n 2 "$cache/build.log")"
    rm -rf "$work"
  }
  flock -u 9
  exec 9>&-
}
fast_packages_here() { apt-get -q download $fast_source v4l2loopback-dkms; }

unpack_fast() { # unpack_fast FOLDER: the packages there
  local omits=("--exclude=$fast_source/Documentation/*/*") folder
  for folder in "${fast_omits[@]}"; do omits+=("--exclude=$fast_source/$folder/*.[chS]"); done
  dpkg-deb --fsys-tarfile "$1/$fast_source"_*.deb | tar -x -O "./usr/src/$fast_source.tar.xz" |
    tar -x -J -C "$1" "${omits[@]}"
  dpkg-deb --fsys-tarfile "$1"/v4l2loopback-dkms_*.deb | tar -x -C "$1" ./usr/src
}

build_fast() ( # build_fast SOURCE
  cd "$1" &&
    # A user-mode kernel is not offered sound cards, though those that are no hardware work there.
    sed -i '/^\(if\|endif #\) !UML$/d' sound/Kconfig &&
    cp ../usr/src/v4l2loopback-*/*.[ch] drivers/media/test-drivers &&
    echo 'obj-y += v4l2loopback.o' >>drivers/media/test-drivers/Makefile &&
    make ARCH=um "KCONFIG_ALLCONFIG=$vm/fast.config" allnoconfig || exit
  if grep '^CONFIG_' "$vm/fast.config" | grep -vxFf .config; then
    echo "no such options, or they lack others"
    exit 1
  fi
  make ARCH=um "-j$(nproc)" linux && mkdir -p "$fast" && strip -o "$fast/linux" linux || exit
  # What modprobe takes for loaded.
  modules=$fast/lib/modules/$("$fast/linux" --version)
  mkdir -p "$modules" && cp modules.builtin modules.builtin.modinfo "$modules" && : >"$modules/modules.order" &&
    PATH=$PATH:/sbin:/usr/sbin depmod -b "$fast" "${modules##*/}" && cp "$vm/fast.config" "$fast/config"
)
