#!/bin/bash
# What consent means for the devices' nodes: who was denied, withdrawn or switched off has none open.
# machine: --systemd --vivid 2 --timeout 2400 --karg snd_aloop.pcm_substreams=1 --karg snd_dummy.pcm_substreams=1
# flavours: stock fast
# shares: nodes
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

both=(--video-format YUYV:320x180@10 --video-codec mjpeg --duration 1)
sound=(--camera none --duration 1)

# Show 5: a program that was denied.
denied() {
  refuse alice camera microphone
  # One that is traced is slow, which must not pass for hung.
  unit_setting captured.service WatchdogSec=300
  systemctl restart captured
  if [[ $flavour != fast ]]; then denied_traced; else skip "the daemon's calls are traced" "this kernel's ptrace stops threads for good"; fi
  refuse alice microphone
  it "denied sound exits 77" expect_exit 77 alone capturectl start "${sound[@]}" denied.wav
  it "denied frames do" expect_exit 77 alone capturectl frames --count 1
  it "denied metadata does" expect_exit 77 alone capturectl metadata --count 1
  it "denied settings of the camera do" expect_exit 77 alone capturectl control brightness=1
  it "denied, the daemon has no capture node open" fails holds_nodes
  it "no file is left of any" fails compgen -G '/home/alice/denied*'
  unit_default captured.service
  systemctl restart captured
  forget
}
denied_traced() {
  local trace
  strace -qq -f -e trace=open,openat,openat2 -o "$work/opens" -p "$(main_pid captured)" &
  trace=$!
  wait_for 30 traced
  it "a denied recording exits 77" expect_exit 77 alone capturectl record "${both[@]}" denied.mkv
  it "so does a photo" expect_exit 77 alone capturectl photo denied.jpg
  it "the daemon opened no capture node" fails grep -E '"/dev/(video|snd/pcm|snd/control)' "$work/opens"
  it "nor has one open" fails holds_nodes
  it "though the trace sees what it opens" grep -q '"/proc/' "$work/opens"
  allow alice microphone
  it "and the node of a program that may" expect_exit 0 alone capturectl record "${sound[@]}" may.wav
  it "which the trace shows" grep -q '"/dev/snd/pcm' "$work/opens"
  it "what was recorded is playable" playable /home/alice/may.wav
  # A traced daemon is a slow one: the rest with another.
  kill $trace
  wait $trace
  systemctl restart captured
}
traced() { grep -q '^TracerPid:	[1-9]' "/proc/$(main_pid captured)/status"; }
holds_nodes() { ls -l "/proc/$(main_pid captured)/fd" | grep -E '/dev/(video|snd/)'; }

# Its memory may still be mapped: the camera leaves it, and whoever shares the camera goes on in other memory.
withdrawn() {
  local camera reader=exe:/home/alice/reader id
  camera=$(camera 1)
  cp "$checkout/.build/release/capture-bench-reader" /home/alice/reader
  mkdir -p /etc/captured/apps.d
  printf '%s\n' '[Desktop Entry]' X-Capture-Program=$reader X-Capture-CameraUsageDescription=Looks >/etc/captured/apps.d/reader.desktop
  allow alice camera
  capturectl auth set --user alice $reader camera authorized
  recording() { id=$(alone capturectl start --camera "$camera" --microphone none "${both[@]:0:4}" shared.mkv); }
  it "a camera is recorded" recording
  as alice ./reader "$camera" YUYV:320x180 1 300 look >"$work/reader" 2>&1 &
  reading=$!
  it "another program sees it too" wait_for 60 grep -q running "$work/reader"
  it "two seconds of it are recorded" wait_for 120 has_recorded "$id" 2
  it "the other's consent is withdrawn" capturectl auth set --user alice $reader camera denied
  it "its session is over, and is told why" says 'consent for the camera was withdrawn' capturectl sessions --all
  it "who shared the camera goes on" wait_for 60 has_recorded "$id" 4
  it "which costs it thirty frames at most" at_most_lost 30
  it "a stop ends it" alone capturectl stop "$id"
  it "with a file that is playable" playable /home/alice/shared.mkv
  it "then no capture node is open any more" fails holds_nodes
  kill $reading; wait $reading 2>/dev/null
  it "a stop while a photo is added closes the camera" stops_while_adding
  rm /etc/captured/apps.d/reader.desktop
  forget
}
# at_most_lost FRAMES: of the camera of session $id, for a withdrawn consent and nothing else
at_most_lost() {
  facts capturectl status --json "$id"
  (($(value statistics.inputs.camera.drops.revocation | grep . || echo 0) <= $1)) || { cat "$work/facts"; return 1; }
}
stops_while_adding() {
  local try id
  for try in $(emulated && echo 1 || echo 1 2 3); do
    id=$(alone capturectl start --camera "$(camera 1)" --microphone none "${both[@]:0:4}" race$try.mkv) || return 1
    alone capturectl photo --session "$id" race$try.jpg >/dev/null 2>&1 &
    alone timeout 60 capturectl stop "$id" || return 1
    wait $!
    ! holds_nodes || return 1
  done
}

# Above all answers: everything of a kind, for everybody.
switched() {
  local id
  allow alice camera microphone
  logged_in bob || log_in_elsewhere bob
  recording() { id=$(alone capturectl start "${both[@]:0:4}" switched.mkv) && wait_for 120 has_recorded "$id" 1; }
  it "a movie is recorded" recording
  it "who sits at the machine may switch cameras off" alone capturectl switch camera off
  it "then no camera is open any more" fails sh -c "ls -l /proc/$(main_pid captured)/fd | grep /dev/video"
  it "the session is interrupted by that" wait_for 20 says 'interrupted.*the camera was switched off' capturectl sessions --all
  it "its file is playable" playable /home/alice/switched.mkv
  systemctl restart captured
  it "after a restart a start is refused for that" refused 77 'capturectl switch camera on' \
    alone capturectl start --microphone none "${both[@]:0:4}" off.mkv
  it "sound is not meant by it" expect_exit 0 alone capturectl record "${sound[@]}" on.wav
  it "her answer is what it was" stores "alice $capturectl_program camera authorized"
  it "switching on takes her password" refused 77 'takes your password' alone capturectl switch camera on
  it "bob, who is elsewhere, may not switch off" refused 77 "administrator's password" bob capturectl switch microphone off
  it "root switches on" says 'camera +on' capturectl switch camera on
  it "and it records without asking" expect_exit 0 alone capturectl record --microphone none "${both[@]}" on.mkv
  forget
}

it "captured serves" start_captured
denied
withdrawn
switched
log_out bob
finish
