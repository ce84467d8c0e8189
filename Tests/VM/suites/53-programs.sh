#!/bin/bash
# Programs as they are installed, under lockdown, in six situations: what each gets, what the person sees, what the history
# says. The table is at the end. In a container all of them get the synthetic devices; in a machine, where each takes ten times
# as long, one for each bridge gets the camera and the card of drivers.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

programs=$vm/programs home=/home/alice
serves() { says '^bridges: V4L2 on, ALSA on, PipeWire on' capturectl lockdown status; }
has_node() { as alice env PIPEWIRE_NO_CONFIG=1 pw-dump 2>/dev/null | grep -q "\"node.name\": \"$1"; }
# A container has no node, and v4l2-ctl looks in sysfs for what one is.
make_node() {
  local nodes=$work/nodes
  cp -a /sys/dev/char "$nodes" && mkdir "$nodes/81:90" &&
    printf 'MAJOR=81\nMINOR=90\nDEVNAME=video90\n' >"$nodes/81:90/uevent" && mount --bind "$nodes" /sys/dev/char
}
# A desktop that shows dialogs, when there is one.
prepare_desktop() {
  mkdir -p $home/portals
  printf '%s\n' '[portal]' DBusName=org.freedesktop.impl.portal.desktop.suite Interfaces=org.freedesktop.impl.portal.Access \
    UseIn=suite >$home/portals/suite.portal
  manager set-environment XDG_DESKTOP_PORTAL_DIR=$home/portals
}
found() { [[ $1 == ok ]] || { printf '%b\n' "$2"; return 1; }; }

# What the microphones of the loop hear, whichever of its two is taken: a tone without an end.
sound() {
  local device
  make_tone "$work/tone.wav" 1000 5
  for device in 0 1; do
    while tail -c +45 "$work/tone.wav"; do :; done | aplay -q -D "hw:Loopback,$device,0" -t raw -f S16_LE -r 48000 -c 2 &
  done
  wait_for 60 plays_both
}
plays_both() { grep -q RUNNING /proc/asound/Loopback/pcm0p/sub0/status && grep -q RUNNING /proc/asound/Loopback/pcm1p/sub0/status; }

it "captured is installed, alice sits at the machine" start_captured
if [[ $flavour == container ]]; then
  start_udev
  synthetic_devices && systemctl restart captured
  it "there is a node by name" make_node
  node=/dev/video90 sources=(synthetic:camera synthetic:microphone) names=()
else
  node=$(camera 1) sources=(v4l2 alsa) names=(v4l2-ctl arecord parecord pipewiresrc pw-record)
  # Sound servers are too slow there.
  ! emulated || names=(v4l2-ctl arecord)
  it "there is a camera" vivid_reset "$node" 0 "$small_size" YUYV 15
  it "there is no microphone but the loop's" unplug_sound snd_dummy
  it "which hears a tone" sound
fi
it "alice has sound servers" eval 'user_manager alice && manager start pipewire wireplumber pipewire-pulse'
it "it is locked down, with all bridges" eval 'capturectl lockdown on --yes && serves'
for source in "${sources[@]}"; do it "they have captured's $source" wait_for 60 has_node "captured\\.$source"; done
it "and no microphone of their own" wait_for 60 fails has_node alsa_input
it "OpenCV's program is in her home" install -o alice -m 755 "$programs/look.py" $home/look.py
prepare_desktop

as_words alice
words+=(env CAPTURE_V4L2_DEVICES=/dev/video90=synthetic:camera)
while IFS=$'\t' read -r status sentence why; do
  case $status in
    ok | 'not ok') it "$sentence" found "$status" "$why" ;;
    table) echo "# $sentence" ;;
    *) it "the situations come to their end" found "$status" "$status" ;;
  esac
done < <("$python" "$programs/situations.py" "$node" "$small_size" "$(session_scope alice)" \
  "${names[@]}" -- "${words[@]}" 2>&1)
finish
