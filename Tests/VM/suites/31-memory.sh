#!/bin/bash
# What 30-faults cannot have in a container: memory runs out for the daemon, and a recorder sees no node of a driver.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast
# shares: attacks
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

picture=(--microphone none --video-format YUYV:320x180@5 --video-codec mjpeg)
sound=(--camera none --microphone hw:Loopback,1)

has_node() { [[ -e $1/dev/video0 || -e $1/dev/snd ]]; }
nodes() {
  local pid
  it "a movie is recorded" recording sandbox sandbox.mkv --camera "$(camera 1)" "${picture[@]}"
  pid=$(main_pid "$(recorders)")
  it "it has a recorder" grep -q libavcodec "/proc/$pid/maps"
  it "which sees no capture node" fails has_node "/proc/$pid/root"
  it "nor has one open" fails sh -c "ls -l /proc/$pid/fd | grep -E '/dev/(video|snd)'"
  alone capturectl stop "$id"
}
out_of_memory() {
  local group=/sys/fs/cgroup/system.slice/captured.service before
  before=$(main_pid captured)
  echo 0 >$group/memory.swap.max
  echo 1M >$group/memory.max
  wait_for 60 fails test -d "/proc/$before"
  # The next daemon may have the same group.
  ! test -e $group/memory.max || echo max >$group/memory.max
}

it "captured serves" start_captured
forget
allow alice camera microphone
vivid_reset "$(camera 1)" 0 320x180 YUYV
nodes
daemon_dies starved 'OOM killer' out_of_memory
# What follows in this boot.
systemctl reset-failed captured 2>/dev/null
forget
finish
