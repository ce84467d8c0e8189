# The fast flavour: a folder with a user-mode kernel and its `run`, named by CAPTURE_TEST_KERNEL. Sourced by machine.
machine_command() {
  [[ -n ${CAPTURE_TEST_KERNEL:-} ]] || die $not_ready "--fast takes CAPTURE_TEST_KERNEL=<folder with a run script>"
  [[ -x $CAPTURE_TEST_KERNEL/run ]] || die $not_ready "CAPTURE_TEST_KERNEL: no run script in $CAPTURE_TEST_KERNEL"
  local options=(--mem "$mem" --timeout "$((seconds + 10))" --vivid "$vivid" --out "$out") word
  for word in "${kargs[@]}"; do options+=(--karg "$word"); done
  ((!systemd)) || options+=(--systemd)
  [[ -z $disk ]] || options+=(--disk "$disk")
  # What run itself says on its stderr, machine says in its own words.
  command=(bash -c 'log=$1; shift; exec "$@" 2>"$log"' fast "$out/run.log"
    "$CAPTURE_TEST_KERNEL/run" "${options[@]}" -- bash "$vm/guest/enter")
}
