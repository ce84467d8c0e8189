#!/bin/bash
# Attacks from namespaces that any user can make, by file systems of their own, on the memory of frames, and with descriptors
# that are not what they seem: none passes for another program, and what hangs, hangs for its own user alone.
# 60-attacks-identity has the simplest of a mount namespace; Tests/CaptureRingTests tries more on memory.
# machine: --systemd --vivid 2 --timeout 2400
# flavours: stock container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

own=/home/alice/attacks
stop=/home/alice/stop
good=/home/alice/good
# What any user can have: a user namespace, as herself and as its root.
herself=(unshare --user --map-current-user --keep-caps)
its_root=(unshare --user --map-root-user)

prepare() {
  { [[ -c /dev/fuse ]] || modprobe fuse; } && wait_for 20 test -c /dev/fuse && chmod 666 /dev/fuse && arm alice &&
    log_in_elsewhere bob &&
    cp "$own/capture" $good && cp "$own/answers/evil" /home/alice/evil && cp /usr/bin/capturectl /home/alice/mine &&
    vivid_reset "$(camera 1)" 0 320x180 YUYV && vivid_reset "$(camera 2)" 0 320x180 YUYV || return 1
  # Before anything is answered: the owner's change makes another program of a file.
  mkdir -p /etc/captured/apps.d /home/alice/{seen,low,empty,dev} && pixel 1 /home/alice/pixel.gif &&
    chown -R alice: /home/alice || return 1
  local program
  for program in $good /home/alice/evil $own/give $own/ring; do
    printf '%s\n' '[Desktop Entry]' Name=Tries X-Capture-Program=exe:$program X-Capture-CameraUsageDescription=Looks \
      >"/etc/captured/apps.d/$(basename $program).desktop"
  done
  for program in $good $own/give $own/ring; do
    capturectl auth set --user alice exe:$program camera authorized || return 1
  done
  chmod 755 "$work"
}

# spawn NAME COMMAND...: alice's, in the background; what it prints is in NAME.out
spawn() {
  local name=$1 as_folder=/home/alice
  shift
  : >"$work/$name.out"
  as_session=1 as alice "$@" >"$work/$name.out" 2>&1 </dev/null &
}

# What others do meanwhile: root records with the other camera, and each of them asks.
root_does() { timeout 20 capturectl "$@"; }
alice_does() { as alice timeout 20 capturectl "$@"; }
bob_does() { local as_folder=/; as bob timeout 20 capturectl "$@"; }
# usual WHO: what the fastest of three commands takes them; bystander: one that the daemon has no part in, which tells how busy
# the machine is.
declare -A usual
bystander_does() { capturectl --version; }
usual() {
  local turn words=(auth list)
  [[ $1 != bystander ]] || words=()
  for turn in 1 2 3; do
    timed "$1_does" "${words[@]}" || return 1
    [[ -n ${usual[$1]:-} ]] && ((usual[$1] < took)) || usual[$1]=$took
  done
}
# timed COMMAND...: how many milliseconds it takes, in `took`
timed() {
  local begin=${EPOCHREALTIME/./} status=0
  "$@" >"$work/timed" 2>&1 || status=$?
  took=$(((${EPOCHREALTIME/./} - begin) / 1000))
  ((status == 0)) || { echo "status $status after $took ms:"; cat "$work/timed"; return 1; }
}
# soon WHO ARGUMENTS...: at most a second more than without an attack, or that many times as long as a bystander is slower.
soon() {
  local turn mine
  for turn in 1 2 3 4 5 6; do
    timed "$1_does" "${@:2}" || return 1
    mine=$took
    ((mine > usual[$1] + 1000)) || return 0
    timed bystander_does || return 1
    ((mine * usual[bystander] > (usual[$1] + 1000) * took)) || return 0
    echo "took $mine ms, usually ${usual[$1]}; a bystander $took, usually ${usual[bystander]}"
  done
  return 1
}
written() { stat -c %s /root/on.mkv; }
grows() { local before=$1; (($(written) > before)); }
root_records() {
  others=$(capturectl start --camera "$(camera 2)" --microphone none --video-format "$(small 5)" \
    --video-codec mjpeg /root/on.mkv) &&
    wait_for 60 has_frames "$others" 5
}
# Whom an attack is not to disturb; an emulated processor has one of them at each attack.
beside=(root bob) each=$(emulated && echo 1 || echo 2)
others_go_on() {
  local name=$1 who
  beside=("${beside[@]:1}" "${beside[0]}")
  for who in "${beside[@]:0:each}"; do
    it "$name: $who sees who captures" soon $who sessions
    it "$name: $who sees what is allowed" soon $who auth list
  done
  it "$name: alice says no to a program" soon alice auth set exe:/home/alice/mine camera denied
  it "$name: what root records goes on" wait_for 20 grows "$(written)"
}
threads() { ls "/proc/$daemon/task" | wc -l; }
recorders() { systemctl list-units --no-legend --plain 'captured-recorder@*' | wc -l; }
running() { facts capturectl sessions --json && grep -cE '^[0-9]+\.state=(running|starting|authorizing)' "$work/facts"; }
runs_none() { [[ $(running) == 0 ]]; }
# As it was before: root's recording alone, and few threads and processes more than at first.
nothing_left() {
  [[ $(running) == 1 && $(recorders) == 1 ]] && (($(processes | wc -l) <= idle_processes + 4 && $(threads) <= idle_threads + 8)) ||
    { echo "$(running) sessions, $(recorders) recorders, $(processes | wc -l) processes, $(threads) threads"; return 1; }
}
end_attack() {
  local program
  for program in stuck ask file give ring evil mine python3 tail; do pkill -KILL -u alice -x "$program"; done
  rm -f $stop
  as alice fusermount3 -u -z /home/alice/seen 2>/dev/null
  true
}
# after NAME: the attackers are gone
after() {
  end_attack
  it "$1: nothing is left of it" wait_for 60 nothing_left
  it "$1: the daemon is the same" same_daemon
}

# For root, capturectl asks at a socket of root's.
over_control="mount --bind /run/captured/control /run/captured/control-root"
inside_root() { alone timeout 20 "${its_root[@]}" --mount "$@"; }
tries_inside() {
  inside_root "$@" >"$work/inside.${#tries[@]}" 2>&1 &
  tries+=($!)
}
identities() {
  it "a program of hers may have the camera" eval 'alone $good >"$work/good" && wait_for 20 runs_none'
  attack over-own "another file is mounted over a program of her own that is allowed" \
    77 'NotPermitted: .*sees another file at' 'a call of alice was refused: .*sees another file at /home/alice/good than' \
    alone "${herself[@]}" --mount sh -c "mount --bind $own/capture $good && exec $good"
  attack over-own-new-pids "the same in a process namespace with its own /proc" \
    77 'NotPermitted: .*sees another file at' 'a call of alice was refused: .*sees another file at /home/alice/good than' \
    alone "${its_root[@]}" --mount --pid --fork --mount-proc sh -c "mount --bind $own/capture $good && exec $good"
  attack new-root "a root of her own, pivoted to, in which her file is the allowed program's" \
    77 'NotPermitted: .*sees another file at' 'a call of alice was refused: .*sees another file at /usr/bin/capturectl than' \
    alone bwrap --unshare-user --unshare-pid --ro-bind / / --ro-bind "$own/capture" /usr/bin/capturectl /usr/bin/capturectl
  attack changed-root "the same by chroot, without a pivoted root" \
    77 'session: MissingUsageDescription|NotPermitted' 'exe:/home/alice/tree/usr/bin/capturectl does not get the camera|a call of alice was refused' \
    alone "${its_root[@]}" --mount sh -c "mkdir -p tree && mount --rbind / tree && mount --bind $own/capture tree/usr/bin/capturectl &&
      exec chroot tree /usr/bin/capturectl"
  attack over-by-layers "a layered file system over the folder of an allowed program" \
    77 'NotPermitted: .*sees another file at' 'a call of alice was refused: .*sees another file at /usr/bin/capturectl than' \
    alone "${herself[@]}" --mount sh -c "mkdir -p /home/alice/layer && cp $own/capture /home/alice/layer/capturectl &&
      mount -t overlay -o lowerdir=/home/alice/layer:/usr/bin layers /usr/bin && exec /usr/bin/capturectl"
  attack new-pid-asks "a program that is not allowed, as number 1 of its own namespace" \
    75 'decision: NobodyToAsk' 'exe:/home/alice/evil does not get the camera: there is nobody to ask' \
    alone "${its_root[@]}" --pid --fork --mount-proc /home/alice/evil request camera
  attack own-connection "a program there leaves its connection to another, and runs an allowed one" \
    77 'NotPermitted: .*(has changed|has its connection)' 'a call of alice was refused: ' \
    alone "${herself[@]}" --pid --fork --mount-proc "$own/hand-over" called /usr/bin/dbus-monitor --system "interface='nobody.has.this'"

  # Root inside is alice outside.
  attack root-inside-sets "root of a namespace of hers allows a program" \
    77 'password|not permitted|may not' 'Set was refused to exe:/usr/bin/capturectl of alice' \
    alone "${its_root[@]}" capturectl auth set exe:/home/alice/evil camera authorized
  attack root-inside-sets-anothers "it allows one of bob's" \
    77 'root|not permitted|may not' 'Set was refused to exe:/usr/bin/capturectl of alice' \
    alone "${its_root[@]}" capturectl auth set --user bob exe:/home/alice/evil camera authorized
  capturectl switch microphone off
  attack root-inside-switches "it turns a switch on" \
    77 'password|not permitted|may not' 'SetSwitch was refused to exe:/usr/bin/capturectl of alice' \
    alone "${its_root[@]}" capturectl switch microphone on
  kill -STOP "$(main_pid dbus)"
  # What loosens takes a password, for which it waits as long as the bus stands still: all wait at once.
  local tries=()
  tries_inside capturectl switch microphone on
  tries_inside sh -c "$over_control && capturectl switch microphone on"
  tries_inside sh -c "$over_control && capturectl auth set exe:/home/alice/evil camera authorized"
  it "root inside is refused: root's own control socket" fails wait "${tries[0]}"
  it "root inside is refused: the switch by everybody's, under the name of root's" fails wait "${tries[1]}"
  it "root inside is refused: an answer by it" fails wait "${tries[2]}"
  kill -CONT "$(main_pid dbus)"
  it "the switch is off still" wait_for 60 says 'microphone +off' capturectl switch microphone
  it "and the program not allowed" fails grep -q evil <(capturectl auth list)
  capturectl switch microphone on >/dev/null
}

# A file system within a file system: what others look at there is asked of the server as its user, who may. The path is that
# of a mount which all see and none but alice may look into, so that the program is taken for that file.
cat >"$work/layered" <<'WORDS'
unseen=$1; shift
rm -f stuck.out
attacks/stuck own low stop file="$1" video0=/bin/true >stuck.out 2>&1 &
until grep -qs mounted stuck.out; do sleep 0.05; done
mount -t overlay -o lowerdir=low:empty layers "$unseen" && shift && exec "$@"
WORDS
# layered NAME FOLDER PROGRAM COMMAND...: a command that sees PROGRAM as FOLDER/file
layered() { spawn "$1" "${herself[@]}" --mount bash "$work/layered" "${@:2}"; }
shown() { spawn shown $own/stuck user seen stop && says_in shown mounted; }
hang() { echo "$*" >$stop; }
hangs() { wait_for 60 grep -q "stuck ${1:-}" /home/alice/stuck.out || { cat /home/alice/stuck.out; return 1; }; }
# stuck_in WHAT: tells which threads wait for the server
stuck_in() {
  awk '/stuck/ { print $4 }' /home/alice/stuck.out | sort -u | while read -r task; do
    echo "# $1: waits in $(cat "/proc/$task/comm" 2>/dev/null || echo 'a thread that has ended')"
  done | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\2: \1/'
}

# A request of the daemon's or, where that makes none, of anybody's.
asked_once() {
  local pid
  pid=$(pgrep -u alice -x -n file) && (timeout 20 stat -L "/proc/$pid/exe" >/dev/null 2>&1 &) && hangs GETATTR
}
programs_on_fuse() {
  it "alice has a file system of her own that all see" shown
  it "which the kernel keeps to her, root included" fails stat /home/alice/seen/out
  layered plain seen "$own/ask" bash -c 'attacks/stuck own low stop file=attacks/ask >/dev/null &
    until [[ -e low/file ]]; do sleep 0.1; done; low/file WHO'
  it "a program on a file system of her own is refused" says_in plain 'NotPermitted: .*exe cannot be read'
  after "a program on her file system"

  it "alice has a file system of her own that all see, again" shown
  layered asks seen "$own/ask" sh -c 'for number in 1 2 3 4; do seen/file STATUS & done; wait'
  it "a program on layers of hers is answered" says_in asks 'answered 3'
  hang GETATTR
  it "its server answers nobody any more, and is asked" asked_once
  stuck_in "a known program's file hangs"
  others_go_on "a known program's file hangs"
  after "a known program's file hangs"

  it "alice has a file system of her own that all see, a third time" shown
  layered leaves seen "$own/ask" seen/file WHO
  it "a program on layers of hers is answered again" says_in leaves 'answered 2'
  it "it asks over $connections connections, one after the other" many
  stuck_in "many connections of a program that hangs"
  it "many connections of a program that hangs: the daemon has few threads for them" few_threads
  others_go_on "many connections of a program that hangs"
  after "many connections of a program that hangs"

  # What Flatpak puts there is looked for on each program's root.
  hang LOOKUP
  layered roots dev "$own/ask" "$own/ask" LEAVE $connections /home/alice/dev
  it "a program whose root hangs asks over $connections connections" says_in roots '^left' 200
  stuck_in "a program's root hangs"
  it "a program's root hangs: the daemon has few threads for that" few_threads
  others_go_on "a program's root hangs"
  after "a program's root hangs"

  layered nodes dev "$own/ask" sh -c 'exec 7<dev/video0 && echo held && exec tail -f /dev/null'
  it "alice has a file open that is named as a node" says_in nodes held
  hang GETATTR
  # Nobody can end a program that waits for such a server.
  (root_does lockdown status >"$work/holders" 2>&1; echo "status $?" >>"$work/holders") &
  (bob_does lockdown status >"$work/told" 2>&1; echo "status $?" >>"$work/told") &
  it "root sees who holds nodes" wait_for 60 grep '^status 0' "$work/holders"
  it "bob is told who holds nodes" wait_for 60 grep '^status 0' "$work/told"
  others_go_on "a file that is named as a node hangs"
  after "a file that is named as a node hangs"
}
# More connections than the daemon may have threads; an emulated processor takes a fifth of a second for each.
connections=300
! emulated || connections=150
few_threads() { (($(threads) < idle_threads + 100)) || { echo "$(threads) threads, at first $idle_threads"; return 1; }; }
many() {
  rm $stop
  pkill -KILL -u alice -x file
  local server
  server=$(pgrep -u alice -x stuck | tail -n 1)
  spawn many nsenter --user --mount --target "$server" --preserve-credentials --wdns=/home/alice sh -c \
    "seen/file LEAVE $connections"
  says_in many '^asked 0' || return 1
  hang GETATTR
  says_in many '^left' 200
}

# The kernel keeps what such a server holds from other users, but lets anybody close it, and asks the server then; layers ask
# it on behalf of its user, for reading.
files_on_fuse() {
  layered outputs seen /bin/true sh -c 'echo there; exec tail -f /dev/null'
  it "alice has a file system of her own" says_in outputs there
  inside() {
    local name=$1
    shift
    spawn "$name" nsenter --user --mount --target "$(pgrep -u alice -x stuck)" --preserve-credentials --wdns=/home/alice "$@"
  }
  inside fine "$own/give" as-is low/out
  local number why='ended failed: InputOutput: .*Permission denied'
  it "a recording there ends with its reason" says_in fine "$why"
  # All are made before the first starts, when the server has stopped answering: alice's own calls wait for what hangs.
  for number in 1 2 3 4; do
    inside "given$number" "$own/give" as-is low/out 100 $stop
    it "recording $number there is made" says_in "given$number" '^made'
  done
  hang FLUSH FSYNC RELEASE
  it "an output hangs when it is closed" hangs FLUSH
  stuck_in "an output hangs when it is closed"
  for number in 1 2 3 4; do it "recording $number there ends with its reason" says_in "given$number" "$why"; done
  others_go_on "an output hangs when it is closed"
  after "an output hangs when it is closed"

  capturectl auth set --user alice exe:/home/alice/mine library add-only
  layered imports seen /home/alice/pixel.gif sh -c 'echo there; exec tail -f /dev/null'
  it "alice has a file of her own on layers" says_in imports there
  hang READ FLUSH
  for number in 1 2 3; do inside "import$number" ./mine library add seen/file; done
  it "an import hangs: it waits for its first byte" hangs READ
  stuck_in "an import hangs"
  others_go_on "an import hangs"
  it "an import hangs: bob adds a file meanwhile" bob_adds
  after "an import hangs"
}
bob_adds() {
  cp /home/alice/pixel.gif /tmp/bobs.gif && chmod 644 /tmp/bobs.gif &&
    capturectl auth set --user bob exe:/usr/bin/capturectl library add-only && bob_does library add /tmp/bobs.gif
}

more_rounds() { (($(grep -c round "$work/ring.out") > $1)); }
ring_attacks() {
  cp "$checkout/Tests/CaptureRingTests/attack_ring.py" /home/alice/attack_ring.py
  spawn ring "$own/ring" /usr/bin/python3 /home/alice/attack_ring.py FD everything
  it "a reader attacks the memory of frames" says_in ring '^round' 120
  # Another reader of the same camera, whose frames are counted.
  rm -f /root/same.mkv
  local same
  same=$(capturectl start --camera "$(camera 1)" --microphone none --video-codec mjpeg /root/same.mkv)
  it "another reader of that camera has frames" wait_for 60 has_frames "$same" 5
  rounds=$(grep -c round "$work/ring.out")
  it "the attack goes on" wait_for 60 more_rounds "$rounds"
  others_go_on "memory is attacked"
  it "the other reader has more frames" wait_for 60 has_frames "$same" 30
  facts capturectl status --json "$same"
  echo "# beside an attack: $(grep -E '^statistics\.(inputs\..*(published|drops)|outputs\..*(frames|missed))' "$work/facts" | tr '\n' ' ')"
  capturectl stop "$same"
  capturectl auth reset --user alice exe:$own/ring camera
  it "when the consent goes the attack ends" says_in ring '^userfault|^faults-private' 60
  grep -vE '^r(ing|ound)$' "$work/ring.out" | sed 's/^/# memory: /'
  local name
  for name in open-writable write map-writable protect truncate punch seal write-writable truncate-writable punch-writable \
    madvise-remove lease-write faults-shared-missing faults-shared-minor faults-shared-protected; do
    it "memory: $name is refused" eval "grep -qE '^$name [A-Z]+' $work/ring.out"
  done
  after "memory is attacked"
}

# gives KIND WANTED [PATH]: a recording into such a descriptor ends so, within a minute
gives() {
  local kind=$1 wanted=$2 path=${3:-/home/alice/given-$1}
  it "an output that is $kind: $wanted" given "$kind" "$wanted" "$path"
  echo "# $kind: $(tail -n 1 "$work/given")"
  it "an output that is $kind: others go on" eval 'soon root sessions && wait_for 20 grows "$(written)"'
}
given() {
  local status=0
  alone timeout 60 "$own/give" "$1" "$3" >"$work/given" 2>&1 || status=$?
  grep -qE -- "$2" "$work/given" && ((status == 0 || status == 77)) || { echo "status $status"; cat "$work/given"; return 1; }
}
odd_files() {
  as alice mkfifo /home/alice/fifo
  # The machine's own root takes no O_DIRECT.
  it "there is a disk" own_disk /home/alice/disk 32M
  local refusal='(ended failed: (InvalidArgument|InputOutput|BadData|TimedOut)|Error\.(InvalidArgument|InputOutput|BadData)):'
  local kind
  for kind in plain flock append write-lease memory; do gives $kind 'ended stopped'; done
  for kind in plain flock write-lease; do
    it "what was written to $kind is a movie" says 'codec_name=' on_host "/home/alice/given-$kind" ffprobe -v error -show_streams {}
  done
  gives direct "ended stopped|$refusal" /home/alice/disk/given
  gives record-lock 'Busy: another program records into that file or has locked it'
  gives read-only "$refusal"
  gives read-lease "$refusal"
  gives path "$refusal"
  gives folder "$refusal" /home/alice
  gives fifo "ended|$refusal" /home/alice/fifo
  gives as-is "$refusal" /dev/full
  gives socket "ended|$refusal"
  gives datagrams "ended|$refusal"
  gives listening "$refusal"
  gives own-memory "ended|$refusal"
  gives poll "$refusal"
  gives sealed "$refusal"
  gives sealed-size "$refusal"
  gives sealed-future "$refusal"
  after "odd outputs"
}

it "captured is installed, alice sits at the machine" start_captured
it "root's own commands may use cameras" serve
it "the attacks are in place" prepare
it "her capturectl may have the camera" allow alice camera
daemon=$(main_pid captured)
for who in root alice bob bystander; do
  it "it is known what commands take $who" usual $who
  echo "# usually ${usual[$who]} ms for $who"
done
identities
it "root records" root_records
idle_processes=$(processes | wc -l) idle_threads=$(threads)
echo "# at first: $idle_processes processes, $idle_threads threads"
odd_files
ring_attacks
files_on_fuse
programs_on_fuse
it "root's recording is whole" eval 'capturectl stop $others && says codec_name= on_host /root/on.mkv ffprobe -v error -show_streams {}'
finish
