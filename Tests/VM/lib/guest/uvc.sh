# The USB cameras of Tests/VM/uvc, in the kernel's uvcvideo. They are plugged into this machine, not into the host.

# start_usb_camera NAME [OPTION...]: plugs one in. NAME is what `tell` calls it.
start_usb_camera() {
  modprobe -a vhci-hcd uvcvideo || return 1
  "$checkout/.build/uvc/camera" "${@:2}" "$work/$1.socket" >"$work/$1.log" 2>&1 &
  usb_camera=$!
  wait_for 20 tell "$1" state
}
# tell NAME COMMAND [WORD]: what Tests/VM/uvc/faults.c lists
tell() { "$checkout/.build/uvc/camera" --tell "$work/$1.socket" "${@:2}"; }
# asks NAME FIELD: a number of its state, as `asks one exposure`
asks() {
  local state
  state=" $(tell "$1" state)" || return 1
  state=${state##* "$2"=}
  echo "${state%% *}"
}
# usb_nodes [INDEX]: the capture nodes of such cameras, or with 1 those for metadata
usb_nodes() {
  local folder index
  for folder in /sys/class/video4linux/video*; do
    read -r index <"$folder/index"
    [[ $(<"$folder/name") != "Test Camera"* || $index != "${1:-0}" ]] || echo "/dev/${folder##*/}"
  done 2>/dev/null
}
# has_usb_cameras COUNT
has_usb_cameras() { (($(usb_nodes | wc -l) == $1)); }
# looked_at: the kernel has read all descriptors, and each driver has taken the camera or left it.
looked_at() {
  local product value
  for product in /sys/bus/usb/devices/*/product; do
    [[ $(<"$product") != "Test Camera" ]] || read -r value <"${product%product}bConfigurationValue"
  done 2>/dev/null
  # Reading waits for the lock that the kernel holds until then.
  [[ -n ${value:-} ]]
}
