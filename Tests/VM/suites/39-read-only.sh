#!/bin/bash
# The file system under the daemon's store becomes read-only and writable again, while the daemon runs: nothing starts
# meanwhile, and what a person takes back ends all the same. And memory runs out: the kernel does not kill the daemon
# for it. A container has 38-attacks-files; these reach the whole kernel.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock
# shares: attacks
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

film=(--microphone none --camera "$(camera 1)" --video-format "$(small 5)" --video-codec mjpeg) library_rate=5
prepare() {
  vivid_reset "$(camera 1)" 0 320x180 YUYV && allow alice camera microphone &&
    may_use_library alice $capturectl_program all && make_photo
}
make_photo() { pixel 1 /home/alice/photo.gif && chown alice: /home/alice/photo.gif; }

# When memory runs out, the kernel kills captured-door first, which asks for it; captured itself goes on.
out_of_memory() {
  it "the kernel kills a process as if memory had run out" kernel_kills "$(ooms)"
  it "systemd notices that it was one of captured's" wait_for 60 journal_says captured 'OOM killer'
  it "captured keeps running" eval 'active captured && same_daemon'
}
ooms() { awk '$1 == "oom_kill" { print $2 }' /proc/vmstat; }
more_ooms() { (($(ooms) > $1)); }
kernel_kills() { echo f >/proc/sysrq-trigger && wait_for 30 more_ooms "$1"; }
# The file system under the daemon's state becomes read-only.
is_mounted() { grep -qE "^[^ ]+ $state ext4 $1[, ]" /proc/mounts; }
# By the kernel's emergency remount: `mount -o remount,ro` fails while files are open for writing.
read_only() { echo u >/proc/sysrq-trigger && wait_for 60 is_mounted ro; }
writable() { mount -o remount,rw $state && is_mounted rw; }
written() { stat -c %s "/home/alice/$1"; }
grows() { (($(written "$1") > $2)); }
over() { says '"state": "(stopped|failed|interrupted)"' capturectl status --json "$1"; }
whole() { over "$1" && decodes "/home/alice/$2"; }

begins_all() {
  filming=$(alone capturectl start "${film[@]}" on.mkv) && others=$(capturectl start "${film[@]}" /home/alice/roots.mkv) &&
    talking=$(alone capturectl start --camera none talk.wav) && wait_for 60 has_frames "$filming" 5 &&
    wait_for 60 has_frames "$others" 5 && wait_for 60 has_recorded "$talking" 1
}

disk_turns() {
  it "root may use the camera" capturectl auth set "$(myself)" camera authorized
  it "recordings are under way" begins_all
  it "a recording into the library is under way, too" begins_into into.mkv --microphone none
  answers >"$work/stored"
  daemon=$(main_pid captured)
  before_restarts=$(restarts)
  it "the disk under the store becomes read-only" read_only

  it "alice's recording is refused and says so" refused 74 "$unwritable" records new.mkv
  head -n 2 "$work/refused" | sed 's/^/# /'
  it "a sound recording is refused, too" refused 74 "$unwritable" talks new.wav
  it "root's recording is refused, too" refused 74 "$unwritable" \
    capturectl record --microphone none --camera "$(camera 1)" --duration 1 /root/new.mkv
  it "none of them leaves a file" fails ls /home/alice/new.mkv /home/alice/new.wav /root/new.mkv
  it "alice's running recording goes on" wait_for 20 grows on.mkv "$(written on.mkv)"
  it "root's running recording goes on" wait_for 20 grows roots.mkv "$(written roots.mkv)"
  it "doctor reports the problem" says 'PROBLEM (store|history)' capturectl doctor
  it "a yes cannot be set" refused 74 "$unwritable" \
    capturectl auth set --user alice exe:/usr/bin/ffmpeg camera authorized

  it "no file can be added to the library" refused 74 "$unwritable" alone capturectl library add photo.gif
  it "no album can be made" refused 74 "$unwritable" alone capturectl library album create Lost
  it "the recording into the library ends" eval 'pkill -INT -x capturectl; ends_into 74 ""'
  sed 's/^/# into the library: /' "$work/into"

  # What a person takes back ends, whether that can be stored or not.
  it "denying the microphone exits 74" refused 74 "$unwritable" \
    alone capturectl auth set $capturectl_program microphone denied
  head -n 2 "$work/refused" | sed 's/^/# /'
  it "the session with the microphone has ended" wait_for 20 over "$talking"
  it "its file is complete" whole "$talking" talk.wav
  it "resetting the camera exits 74" refused 74 "$unwritable" \
    alone capturectl auth reset $capturectl_program camera
  head -n 2 "$work/refused" | sed 's/^/# /'
  it "the session with the camera has ended" wait_for 20 over "$filming"
  it "its file is complete, too" whole "$filming" on.mkv
  it "switching cameras off exits 74, and says that they are off" \
    refused 74 'switched off, but only until captured restarts' capturectl switch camera off
  it "root's session has ended" wait_for 20 over "$others"
  it "its file is complete as well" whole "$others" roots.mkv
  it "cameras cannot be switched on" refused 74 "$unwritable" capturectl switch camera on
  it "recordings are still refused" refused 74 "$unwritable" records new.mkv

  it "the disk becomes writable" writable
  it "the stored answers are unchanged" wait_for 20 eval 'answers | diff "$work/stored" -'
  it "cameras are still off" refused 77 'switched off' records new.mkv
  it "cameras can be switched on" capturectl switch camera on
  it "alice records again" wait_for 20 records new.mkv
  it "the recording is complete" decodes /home/alice/new.mkv
  it "denying the microphone is stored now" alone capturectl auth set $capturectl_program microphone denied
  it "the denial counts" refused 77 'denied' talks new.wav
  it "the history has the switch that could not be stored then" wait_for 60 says 'was switched off' capturectl history
  it "a file can be added to the library" alone capturectl library add photo.gif
  it "the recording into the library is listed as kept" says 'into\.mkv' alone capturectl library kept
  terminal saves capturectl library kept save "$(kept_id)"
  replies saves y
  it "alice saves it" ends saves 0
  it "the library is sound" sound_library
  it "captured did not restart meanwhile" \
    eval '[[ $(main_pid captured) == "$daemon" && $(restarts) == "$before_restarts" ]]'
}

# What follows in this boot finds the state of before.
leave_disk() { systemctl stop captured && umount $state && rm $image; }

systemctl stop captured 2>/dev/null
it "the daemon's state is on a disk of its own" state_on_disk
it "captured serves" start_captured
it "people, programs and files are there" prepare
daemon=$(main_pid captured)
out_of_memory
disk_turns
it "the disk goes" leave_disk
finish
