#!/bin/bash
# Attacks with files that are imported into the media library, on the daemon's bus name, and with the file system under
# its store. Hostile files are refused, or imported whole, and other users notice nothing. Nobody else gets the name.
# What an error of the disk leaves read-only is repaired. 39-read-only has a disk that becomes writable again.
# machine: --systemd --vivid 2 --timeout 2400
# flavours: stock container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

name=org.capturekit.Capture1
hostile=/usr/local/lib/hostile/hostile
own=/home/alice/own

# A copy of the interpreter is a program of its own; the interpreter itself is refused.
program() {
  install -D -m 755 "$(readlink -f "$python")" $hostile
}
# script USER NAME WORDS...
script() {
  local as_folder=/
  as "$1" env PYTHONHOME=/usr PYTHONDONTWRITEBYTECODE=1 $hostile -S "$vm/lib/guest/$2.py" "${@:3}"
}
prepare() {
  local folder=/home/alice/files
  log_in_elsewhere bob && mkdir -p /home/bob && chown bob: /home/bob && program &&
    vivid_reset "$(camera 1)" 0 320x180 YUYV && vivid_reset "$(camera 2)" 0 320x180 YUYV && allow alice camera microphone &&
    may_use_library alice $capturectl_program all && may_use_library alice exe:$hostile add-only &&
    may_use_library bob exe:$hostile all || return 1
  ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x64:rate=5:duration=1 -c:v mjpeg "$work/movie.mkv" &&
    mkdir $folder $own && "$python" -S "$vm/lib/guest/hostile_files.py" $folder "$work/movie.mkv" &&
    cp $folder/whole.jpg /home/alice/photo.jpg &&
    chown -R alice: $folder $own
}

# bob imports small pictures during the attacks.
bob_begins() {
  rm -f /tmp/enough
  script bob hostile_imports --usual /tmp/enough >"$work/bob" 2>&1 &
  bob=$!
}
bob_ends() {
  touch /tmp/enough
  wait $bob
  local status=$?
  cat "$work/bob"
  return $status
}

# Hostile files: each import ends in time, and leaves nothing behind. The tests of the library import all of them, too;
# an emulated processor, which takes seconds for each, has the first two of a kind.
files() {
  local kind some
  cd /home/alice/files || return
  for kind in jpg gif png tif dng mp4 mkv wav mp3; do
    some=("$PWD"/bad-*.$kind)
    ! emulated || some=("${some[@]:0:2}")
    it "hostile files named .$kind are refused as bad data" \
      script alice hostile_imports --all BadData "${some[@]}"
    sed 's/^/# /' "$work/output"
  done
  some=("$PWD"/bomb-*)
  ! emulated || some=("${some[@]:0:2}")
  it "decompression bombs are imported or refused" \
    script alice hostile_imports --all BadData,ok "${some[@]}"
  sed 's/^/# /' "$work/output"
  it "no file remains in transit" nothing_begun
  it "capturectl exits 65 for bad data" refused 65 'nothing that is known here' \
    alone capturectl library add files/bad-zip-first.jpg
  it "photos that are also a ZIP, HTML, PDF or MP4, and a movie named .png, are imported" adds "$PWD"/whole-*
  it "they are exported unchanged" come_out
  it "the movie named .png is a movie" known_as whole-matroska.png video/x-matroska
  it "the photo with a page in it is a photo" known_as whole-html.jpg image/jpeg
  cd / || return
}
adds() { alone capturectl library add "$@" >"$work/ids" && [[ $(wc -l <"$work/ids") == $# ]]; }
come_out() {
  local path count=0
  alone capturectl library export --all out || return 1
  for path in whole-*; do
    cmp "$path" "$(find /home/alice/out -name "$path")" || return 1
    count=$((count + 1))
  done
  ((count == 5))
}
known_as() {
  facts alone capturectl library list --json && awk -F= -v name="$1" -v type="$2" '{ split($1, part, ".") }
    $1 ~ /\.name$/ && $2 == name { found = part[1] } $1 ~ /\.mediaType$/ { types[part[1]] = $2 }
    END { print types[found]; exit !(found != "" && types[found] == type) }' "$work/facts"
}

# A file changes during the import. If it is imported all the same, its content is found in the library by its hash.
changing() {
  local what wanted whole
  while read -r what wanted whole; do
    it "$what during the import: ends with $wanted" changed "$what" "$wanted"
    sed 's/^/# /' "$work/output"
    it "$what: no file remains in transit" nothing_begun
    [[ -z $whole ]] || it "$what: the library has the original content" test -e "$(content "$before")"
  done <<END
grow BadData
grow-on BadData
cut BadData
empty BadData
empty-and-back BadData
rewrite BadData
rewrite-end BadData
rewrite-hidden BadData|ok
rewrite-mapped BadData|ok
replace ok whole
remove ok whole
END
  it "the library is sound after the changes" sound_library
}
# Makes own/large.wav, each time with another content.
make_large() {
  ((++largest))
  rm -f $own/large.wav
  cp /home/alice/large.wav $own/large.wav && printf '%08d' "$largest" |
    dd of=$own/large.wav bs=1 seek=1000 conv=notrunc status=none && chown alice: $own/large.wav
}
changed() {
  local turn
  for turn in 1 2 3; do
    make_large
    before=$(digest $own/large.wav)
    script alice hostile_imports $own/large.wav "$1" >"$work/changed" 2>&1 && break
    grep -q 'came too late' "$work/changed" || break
  done
  cat "$work/changed"
  ! grep -q 'came too late' "$work/changed" && grep -qE "^outcome: ($2) " "$work/changed"
}

# Sparse files of huge sizes.
sparse() {
  local size
  for size in 1T 9223372036854775807; do
    rm -f $own/sparse.jpg
    cp /home/alice/photo.jpg $own/sparse.jpg && truncate -s $size $own/sparse.jpg && chown alice: $own/sparse.jpg
    it "a sparse file of $size bytes is refused" refused 74 'at most [0-9]* bytes may be imported' \
      alone timeout 60 capturectl library add own/sparse.jpg
  done
  truncate -s 100G $own/sparse.jpg
  # Leaves 32 MiB beside what the library keeps free: a sixteenth of the disk, 256 MiB at most.
  local kept=$(($(stat -f -c '%b * %S' $state) / 16)) free=$(($(stat -f -c '%a * %S' $state)))
  fallocate -l $((free - (kept < 256 << 20 ? kept : 256 << 20) - (32 << 20))) $state/ballast
  it "a sparse file that does not fit on the disk is refused" refused 74 'kept free|full' \
    alone timeout 300 capturectl library add own/sparse.jpg
  rm $state/ballast
  it "no file of it remains in transit" nothing_begun
  it "there is room for a photo again" alone capturectl library add photo.jpg
}

# The peak of all helper processes: one hostile file may take half of the machine's memory, or 1 GiB on a small machine;
# bob's small ones run beside it.
recorders=/sys/fs/cgroup/captured.slice/captured-recorder.slice
helpers_stayed_small() {
  local peak most
  if counts_memory; then
    peak=$(($(<$recorders/memory.peak) / 1024))
  else
    kill $sampler
    peak=$(<"$work/peak")
  fi
  most=$(awk '/^MemTotal:/ { half = $2 / 2; print int((half > 1048576 ? half : 1048576) + 131072) }' /proc/meminfo)
  echo "the helpers took $peak KiB at most, of $most KiB that they may"
  ((peak > 0 && peak <= most))
}
counts_memory() { [[ " $(</sys/fs/cgroup/cgroup.controllers) " == *' memory '* ]]; }
# In a container on some hosts control groups do not count it: there it is the peaks of all that run at a time.
watch_helpers() {
  ! counts_memory || return 0
  "$python" -S "$vm/lib/guest/peak.py" $recorders "$work/peak" &
  sampler=$!
}
ooms() { awk '$1 == "oom_kill" { print $2 }' /proc/vmstat; }

# The daemon's bus name.
owner() {
  says "^u $1\$" busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus GetConnectionUnixUser s $name
}
serves() { owner "$(id -u captured)" && capturectl status; }
# hold FLAGS: a root process requests the name and stays connected
hold() {
  : >"$work/holder"
  PYTHONDONTWRITEBYTECODE=1 "$python" -S "$vm/lib/guest/take_name.py" $name "$1" stay >"$work/holder" 2>&1 &
  holder=$!
  wait_for 30 test -s "$work/holder"
}
held() { [[ $(tail -n 1 "$work/holder") == "$1" ]] || { cat "$work/holder"; return 1; }; }
let_go() { kill $holder; wait $holder 2>/dev/null; true; }
restarted_three_times() { (($(restarts) >= 3)); }
refused_name() { says '^org.freedesktop.DBus.Error.AccessDenied$' script "$@"; }
names() {
  local flags turn
  it "captured stops" systemctl stop captured
  for flags in 0 1 2 3 4 5 6 7; do
    it "alice is refused the name before captured starts, with flags $flags" refused_name alice take_name $name $flags
  done
  it "bob is refused it, too" refused_name bob take_name $name 0
  it "so is nobody" refused_name nobody take_name $name 0
  for turn in Manager Agent Evil; do
    it "alice is refused the name below it: $turn" refused_name alice take_name $name.$turn 0
  done

  rm -f /tmp/enough
  script alice take_name --over-and-over $name /tmp/enough >"$work/over" 2>&1 &
  local over=$!
  for turn in $(emulated && echo 1 2 || echo 1 2 3); do
    it "captured starts while alice requests its name in a loop" systemctl restart captured
    it "captured owns its name" serves
    it "captured is killed" kill_hard captured
    it "captured restarts and owns its name" wait_for 60 serves
  done
  touch /tmp/enough
  it "alice never got the name" wait $over
  sed 's/^/# alice: /' "$work/over"

  # The policy lets root own the name. captured must not run beside such a process, and must recover by itself.
  it "captured stops again" systemctl stop captured
  systemctl reset-failed captured
  it "a root process requests the name" hold 0
  it "it gets the name" held got
  journal_since new
  it "captured is started" systemctl start --no-block captured
  it "captured exits and says why" wait_for 60 journal_shows "$name is taken: another captured runs on this bus"
  it "systemd keeps restarting it" wait_for 120 restarted_three_times
  it "the unit is not active" fails active captured
  it "there is no control socket" fails test -e /run/captured/control
  it "capturectl status fails" fails timeout 90 capturectl status
  tail -n 3 "$work/output" | sed 's/^/# /'
  it "capturectl record fails" fails \
    alone timeout 90 capturectl record --camera "$(camera 1)" --microphone none --duration 1 none.mkv
  tail -n 3 "$work/output" | sed 's/^/# /'
  let_go
  it "captured serves by itself once the name is free" wait_for 120 serves

  it "a root process queues for the name" hold 3
  it "it does not replace captured" held queued
  it "another root process cannot replace captured" says '^taken$' "$python" -S "$vm/lib/guest/take_name.py" $name 6
  it "captured still owns its name" serves
  journal_since new
  it "captured is killed" kill_hard captured
  it "the queued process gets the name" wait_for 60 held got
  it "captured exits and says why again" wait_for 60 journal_shows "$name is taken"
  let_go
  it "captured serves by itself again" wait_for 120 serves
  systemctl reset-failed captured
}

repair_disk() {
  umount $state || return 1
  e2fsck -fy $image
  (($? < 4)) && mount_image
}
# A file system error with errors=remount-ro, which takes an unmount and a check to repair.
disk_fails() {
  answers >"$work/stored"
  it "errors remount the file system read-only" mount -o remount,errors=remount-ro $state
  it "an error occurs" eval 'trigger_error; wait_for 60 fails touch $state/written'
  it "a recording is refused" refused 74 "$unwritable" records failed.mkv
  it "denying the camera exits 74" refused 74 "$unwritable" alone capturectl auth set $capturectl_program camera denied
  it "captured is stopped" systemctl stop captured
  it "the file system is repaired" repair_disk
  it "captured starts again" systemctl start captured
  it "the stored answers are unchanged again" eval 'answers | diff "$work/stored" -'
  it "alice records after the repair" records mended.mkv
  it "the library is sound after the repair" sound_library
}

it "the daemon's state is on a disk of its own" state_on_disk
it "captured serves" start_captured
it "people, programs and files are there" prepare
daemon=$(main_pid captured)
largest=0 ooms=$(ooms)
it "a large sound file is there" make_tone /home/alice/large.wav 440 "$(emulated && echo 100 || echo 300)"

it "bob starts to import" bob_begins
it "the service's size is measured" forget_peak
watch_helpers
files
changing
it "every import of bob's succeeded" bob_ends
sed 's/^/# bob: /' "$work/output"
sparse
it "the service grew by 64 MiB at most" grew_at_most 64
sed 's/^/# memory: /' "$work/output"
it "helpers stayed within half of the machine's memory" helpers_stayed_small
sed 's/^/# memory: /' "$work/output"
it "the kernel killed no process for lack of memory" test "$(ooms)" = "$ooms"
it "the library is sound" sound_library
it "captured did not restart" same_daemon
names
disk_fails
finish
