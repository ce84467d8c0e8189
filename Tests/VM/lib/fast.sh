# The fast flavour: a user-mode kernel, which is a process of the host, over the host's own files. Sourced by machine.
. "$vm/lib/layer.sh"
. "$vm/lib/fast-kernel.sh"

machine_command() {
  fast_ready || die $not_ready "there is no fast kernel, or it is of another configuration: run Tests/VM/setup --fast"
  note kernel "$fast"
  make_layer "$out/.machine/layer" "$systemd"
  # Its memory is a file, and has to fit where it lies.
  local room
  room=$(df --output=avail --block-size=1 /dev/shm 2>/dev/null | tail -n 1) || true
  ((${room:-0} > $(numfmt --from=iec "$mem"))) || export TMPDIR=$out/.machine
  # Two terminals: the first has what the kernel says, the second what the command says.
  command=(bash -c 'log=$1; shift; exec "$@" 2>"$log"' fast "$out/kernel.log"
    "$fast/linux" "mem=$mem" root=/dev/root rootfstype=hostfs hostfs=/ ro "uml_dir=$out/.machine/uml"
    con=null con0=null,fd:2 con1=null,fd:1 quiet loglevel=4 "init=$vm/guest/fast-init" "capture_test_out=$out"
    systemd.unified_cgroup_hierarchy=1 "${kargs[@]}")
  [[ -z $disk ]] || command+=("ubd0=$disk")
}
