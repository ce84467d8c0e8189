#!/bin/bash
# Attacks with files that are imported into the media library, on the daemon's bus name, and with the file system under its
# store. Hostile files are refused, or imported whole, and other users notice nothing. Nobody else gets the name. While the
# disk is read-only nothing starts, and what a person takes back ends all the same.
# machine: --systemd --vivid 2 --timeout 2400
# flavours: stock
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

state=/var/lib/captured
image=/dev/shm/state
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
# A disk for the daemon's state. Without delayed allocation writes fail at once when it becomes read-only.
state_on_disk() {
  modprobe loop && truncate -s 600M $image && mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 $image &&
    disk=$(losetup --show -f $image) && mkdir -p $state && mount -t ext4 -o nodelalloc "$disk" $state
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

processes() { cat /sys/fs/cgroup/system.slice/captured.service/cgroup.procs; }
# memory FIELD: the sum over the daemon and its child processes, in KiB; some of them may end meanwhile.
memory() {
  local process
  for process in $(processes); do cat "/proc/$process/status" 2>/dev/null; done |
    awk -v field="$1:" '$1 == field { sum += $2 } END { print sum }'
}
forget_peak() {
  local process
  for process in $(processes); do echo 5 >"/proc/$process/clear_refs"; done
  idle=$(memory VmRSS)
}
# grew_at_most MIB: the service's peak since forget_peak, compared with its size then
grew_at_most() {
  local most
  most=$(memory VmHWM)
  echo "the service grew from $idle to $most KiB, in $(processes | wc -l) processes"
  ((most > 0 && most - idle <= $1 * 1024))
}
restarts() { systemctl show --property=NRestarts --value captured; }
same_daemon() { [[ "$(restarts) $(main_pid captured)" == "0 $daemon" ]]; }

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

# Hostile files: each import ends in time, and leaves nothing behind. The tests of the library import all of them, too; an
# emulated processor, which takes seconds for each, has the first two of a kind.
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
helpers_stayed_small() {
  local peak most
  peak=$(</sys/fs/cgroup/captured.slice/captured-recorder.slice/memory.peak)
  most=$(awk '/^MemTotal:/ { half = $2 / 2; print int((half > 1048576 ? half : 1048576) + 131072) }' /proc/meminfo)
  echo "the helpers took $((peak / 1024)) KiB at most, of $most KiB that they may"
  ((peak > 0 && peak / 1024 <= most))
}

# When memory runs out, the kernel kills captured-door first, which asks for it; captured itself goes on.
out_of_memory() {
  it "the kernel kills a process as if memory had run out" kernel_kills "$(ooms)"
  it "systemd notices that it was one of captured's" wait_for 60 journal_says captured 'OOM killer'
  it "captured keeps running" eval 'active captured && same_daemon'
}
ooms() { awk '$1 == "oom_kill" { print $2 }' /proc/vmstat; }
more_ooms() { (($(ooms) > $1)); }
kernel_kills() { echo f >/proc/sysrq-trigger && wait_for 30 more_ooms "$1"; }
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
# The file system under the daemon's state becomes read-only.
is_mounted() { grep -qE "^[^ ]+ $state ext4 $1[, ]" /proc/mounts; }
# By the kernel's emergency remount: `mount -o remount,ro` fails while files are open for writing.
read_only() { echo u >/proc/sysrq-trigger && wait_for 60 is_mounted ro; }
writable() { mount -o remount,rw $state && is_mounted rw; }
written() { stat -c %s "/home/alice/$1"; }
grows() { (($(written "$1") > $2)); }
over() { says '"state": "(stopped|failed|interrupted)"' capturectl status --json "$1"; }
whole() { over "$1" && decodes "/home/alice/$2"; }
# Without ffmpeg's constant frame rate: a busy machine loses frames.
decodes() {
  local format=rawvideo
  [[ $1 != *.wav ]] || format=s16le
  on_host "$1" ffmpeg -v error -xerror -nostdin -i {} -fps_mode passthrough -f $format -y /dev/null
}
unwritable='cannot be (written|opened|recorded|made|used)|read-only|Read-only|readonly'

starts() {
  alone capturectl start --microphone none --camera "$(camera 1)" --video-format YUYV:320x180@5 --video-codec mjpeg "$1"
}
begins_all() {
  filming=$(starts on.mkv) && others=$(capturectl start --microphone none --camera "$(camera 2)" \
    --video-format YUYV:320x180@5 --video-codec mjpeg /home/alice/roots.mkv) &&
    talking=$(alone capturectl start --camera none talk.wav) && wait_for 60 has_frames "$filming" 5 &&
    wait_for 60 has_frames "$others" 5 && wait_for 60 has_recorded "$talking" 1
}
kept_id() { facts alone capturectl library kept list --json && value 0.id; }
# A recording straight into the library
into_library() {
  rm -f "$work/into.status"
  (alone capturectl record --to-library --name into.mkv --camera "$(camera 1)" --microphone none \
    --video-format YUYV:320x180@5 --video-codec mjpeg --duration 600 >"$work/into" 2>&1; echo $? >"$work/into.status") &
  wait_for 60 begun 20000
}
ends_into() {
  wait_for 60 test -s "$work/into.status" && grep -qE "^($1)\$" "$work/into.status" ||
    { cat "$work/into.status" "$work/into"; return 1; }
}
records() {
  alone capturectl record --camera "$(camera 1)" --microphone none --video-format YUYV:320x180@5 --video-codec mjpeg \
    --duration 1 "$1"
}
talks() { alone capturectl record --camera none --duration 1 "$1"; }

disk_turns() {
  it "root may use the camera" capturectl auth set "$(myself)" camera authorized
  it "recordings are under way" begins_all
  it "a recording into the library is under way, too" into_library
  answers >"$work/stored"
  daemon=$(main_pid captured)
  before_restarts=$(restarts)
  it "the disk under the store becomes read-only" read_only

  it "alice's recording is refused and says so" refused 74 "$unwritable" records new.mkv
  head -n 2 "$work/refused" | sed 's/^/# /'
  it "a sound recording is refused, too" refused 74 "$unwritable" talks new.wav
  it "root's recording is refused, too" refused 74 "$unwritable" \
    capturectl record --microphone none --camera "$(camera 2)" --duration 1 /root/new.mkv
  it "none of them leaves a file" fails ls /home/alice/new.mkv /home/alice/new.wav /root/new.mkv
  it "alice's running recording goes on" wait_for 20 grows on.mkv "$(written on.mkv)"
  it "root's running recording goes on" wait_for 20 grows roots.mkv "$(written roots.mkv)"
  it "doctor reports the problem" says 'PROBLEM (store|history)' capturectl doctor
  it "a yes cannot be set" refused 74 "$unwritable" capturectl auth set --user alice exe:$hostile camera authorized

  it "no file can be added to the library" refused 74 "$unwritable" alone capturectl library add photo.jpg
  it "no album can be made" refused 74 "$unwritable" alone capturectl library album create Lost
  it "the recording into the library ends" eval 'pkill -INT -x capturectl; ends_into "74"'
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
  it "switching cameras off exits 74, and says that they are off" refused 74 'switched off, but only until captured restarts' \
    capturectl switch camera off
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
  it "a file can be added to the library" alone capturectl library add photo.jpg
  it "the recording into the library is listed as kept" says 'into\.mkv' alone capturectl library kept
  terminal saves capturectl library kept save "$(kept_id)"
  replies saves y
  it "alice saves it" ends saves 0
  it "the library is sound" sound_library
  it "captured did not restart meanwhile" eval '[[ $(main_pid captured) == "$daemon" && $(restarts) == "$before_restarts" ]]'
}

repair_disk() {
  umount $state || return 1
  e2fsck -fy "$disk"
  (($? < 4)) && mount -t ext4 -o nodelalloc "$disk" $state
}
# A file system error with errors=remount-ro, which takes an unmount and a check to repair.
disk_fails() {
  local error
  error=/sys/fs/ext4/$(basename "$disk")/trigger_fs_error
  answers >"$work/stored"
  it "errors remount the file system read-only" mount -o remount,errors=remount-ro $state
  it "an error occurs" eval 'echo suite >$error; wait_for 60 fails touch $state/written'
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
largest=0
it "a large sound file is there" make_tone /home/alice/large.wav 440 "$(emulated && echo 100 || echo 300)"

it "bob starts to import" bob_begins
it "the service's size is measured" forget_peak
files
changing
it "every import of bob's succeeded" bob_ends
sed 's/^/# bob: /' "$work/output"
sparse
it "the service grew by 64 MiB at most" grew_at_most 64
sed 's/^/# memory: /' "$work/output"
it "helpers stayed within half of the machine's memory" helpers_stayed_small
sed 's/^/# memory: /' "$work/output"
it "the kernel killed no process for lack of memory" grep -qx 'oom_kill 0' /proc/vmstat
it "the library is sound" sound_library
it "captured did not restart" same_daemon
out_of_memory
names
disk_turns
disk_fails
finish
