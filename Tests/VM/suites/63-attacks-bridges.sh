#!/bin/bash
# Attacks on the bridges as they are installed: code that its person would like to have in the one for PipeWire, programs that
# pose as it, and programs that go around the library for V4L2. Those of PipeWire's clients are in Tests/PipeWire/attacks.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
# shares: attacks
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

bridge=/usr/libexec/captured-pipewire home=/home/alice trapped=/home/alice/trapped
has_cameras() { as alice env PIPEWIRE_NO_CONFIG=1 pw-dump 2>/dev/null | grep -q '"captured\.[^p]'; }
has_none() { fails has_cameras; }
# What alice has allowed, and that sees by PipeWire.
sees() { alone env PIPEWIRE_NO_CONFIG=1 timeout 60 $home/eye -q pipewiresrc num-buffers=3 ! video/x-raw ! fakesink; }
# own_bridge COMMAND...: a bridge of alice's own in the place of the service; bridge_ends ends it
own_bridge() {
  manager stop captured-pipewire && wait_for 60 has_none || return 1
  alone "$@" >"$work/bridge" 2>&1 &
  own=$!
  wait_for 60 has_cameras || { cat "$work/bridge"; return 1; }
}
bridge_ends() {
  local pid
  for pid in $(pgrep -u alice -f '/captured-pipewire$'); do kill "$pid"; done
  wait $own 2>/dev/null
  wait_for 60 has_none
}
# row NAME 'what it tried' TOLD SHOWN: as `attack` prints it
row() { echo "# attack $1: tried: $2; was told: ${3:-nothing}; the journal: ${4:-nothing}"; }

it "captured is installed, alice sits at the machine" start_captured
it "alice has sound servers" eval 'user_manager alice && manager start pipewire wireplumber'
it "the bridge has a group" says '^-rwxr-sr-x root captured-bridge$' stat -c '%A %U %G' $bridge
it "which has no member" says ':$' getent group captured-bridge
cp "$(readlink -f "$(command -v gst-launch-1.0)")" $home/eye && chown alice: $home/eye
it "a program of hers may have the camera" capturectl auth set --user alice exe:$home/eye camera authorized
it "the bridge serves" eval 'manager start captured-pipewire && wait_for 60 has_cameras'
it "her program sees" sees

# What is around it. Each is tried on another program first, which falls into it.
cat >"$work/trap.c" <<END
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
  char name[64];
  int from = open("/proc/self/comm", O_RDONLY), to = open("$trapped", O_WRONLY | O_CREAT | O_APPEND, 0666);
  long length = read(from, name, sizeof name);
  if (length > 0 && write(to, name, length) != length) _exit(1);
}
END
it "there is a trap" cc -shared -fPIC -o /usr/local/lib/trap.so "$work/trap.c"
traps=$home/traps
mkdir -p $traps/support $traps/audioconvert $home/.config/pipewire/client.conf.d $home/.config/pipewire/client-rt.conf.d
for name in support/libspa-{support,journal}.so audioconvert/libspa-audioconvert.so libpipewire-0.3.so.0 libcapture.so.0 \
  libpipewire-module-{protocol-native,rt,client-node,client-device,adapter,metadata,session-manager}.so; do
  cp /usr/local/lib/trap.so "$traps/$name"
done
up=../../../../../../../../usr/local/lib/trap
for name in client client-rt; do
  echo "context.spa-libs = { support.* = \"$up\" audio.* = \"$up\" }
context.modules = [ { name = \"$up\" flags = [ nofail ] } { name = libpipewire-module-protocol-native } ]" |
    tee $home/.config/pipewire/$name.conf >$home/.config/pipewire/$name.conf.d/trap.conf
done
echo 'pcm_type.trap { lib "/usr/local/lib/trap.so" }
pcm.!default { type trap }' >$home/.asoundrc
chown -R alice: $traps $home/.config $home/.asoundrc
# What calls functions that the trap lacks does not even begin, which ld.so says.
falls() {
  rm -f $trapped
  alone env "$@" timeout 20 pw-cli info 0 >"$work/fell" 2>&1
  [[ -s $trapped ]] || grep -q 'symbol lookup error' "$work/fell" || { cat "$work/fell"; return 1; }
}
withstands() {
  local status=0
  rm -f $trapped
  own_bridge env "$@" $bridge && sees || status=1
  bridge_ends && fails test -s $trapped && ((status == 0)) || { cat $trapped "$work/bridge"; return 1; }
}
around() {
  it "$1: another program falls into it" falls "${@:2}"
  it "$1: the bridge does not" withstands "${@:2}"
  row "$1" "$1 has it load code" "" ""
}
mv $home/.config/pipewire $home/config-pipewire
around LD_PRELOAD LD_PRELOAD=/usr/local/lib/trap.so
around LD_AUDIT LD_AUDIT=/usr/local/lib/trap.so
around LD_LIBRARY_PATH LD_LIBRARY_PATH=$traps
around SPA_PLUGIN_DIR SPA_PLUGIN_DIR=$traps
around PIPEWIRE_MODULE_DIR PIPEWIRE_MODULE_DIR=$traps
around PIPEWIRE_CONFIG_DIR PIPEWIRE_CONFIG_DIR=$home/config-pipewire
mv $home/config-pipewire $home/.config/pipewire
around client.conf NOTHING=1
rm -r $home/.config/pipewire

# What its person may do to it.
manager start captured-pipewire
it "the bridge serves again" wait_for 60 has_cameras
pid=$(manager show -p MainPID --value captured-pipewire)
row ptrace "traces the bridge" "$(alone strace -qq -p "$pid" 2>&1 | head -n 1)" ""
it "ptrace: nobody of hers traces it" says 'Operation not permitted|Could not attach' fails alone timeout 20 strace -p "$pid"
for name in mem environ maps fd/0; do
  it "/proc: its $name is closed to her" fails alone dd if="/proc/$pid/$name" of=/dev/null count=1 status=none
done
it "she may stop it, and it goes on" eval 'alone kill -STOP $pid && alone kill -CONT $pid && sees'

# Who poses as it.
eye=$(alone bash -c 'exec sleep 600 >/dev/null & echo $!')
started=$(sed 's/.*) //' "/proc/$eye/stat" | cut -d' ' -f20)
attack in-its-place "makes a session for another program" 1 'only captured-pipewire' 'CreateSessionFor was refused to exe:/usr/bin/busctl' \
  alone busctl call org.capturekit.Capture1 /org/capturekit/Capture1 org.capturekit.Capture1.Manager CreateSessionFor \
  'uta{uu}usa{sv}a{ss}' "$eye" "$started" 1 "$eye" 1 0 pipewire 0 0
kill "$eye"
# poses NAME 'what it tries' PROGRAM-PATTERN COMMAND...
poses() {
  it "$1: it shows cameras: $2" own_bridge "${@:4}"
  journal_since new
  sees >"$work/told" 2>&1
  it "$1: programs get nothing by it" grep -q 'only captured-pipewire\|runs programs of others\|cannot be identified' "$work/told"
  it "$1: the journal has it" wait_for 20 journal_shows "$3"
  row "$1" "$2" "$(grep -m 1 captured: "$work/told")" "$(grep -m 1 -E -- "$3" "$work/shown")"
  it "$1: it ends" bridge_ends
}
refusal='CreateSessionFor was refused to '
cp $bridge $home/captured-pipewire && chown alice: $home/captured-pipewire
poses copy "a copy of the bridge" "$refusal" $home/captured-pipewire
poses no-new-privileges "the bridge itself, without its group, with code of hers in it" "$refusal" \
  setpriv --no-new-privs env LD_PRELOAD=/usr/local/lib/trap.so $bridge
manager start captured-pipewire
it "the bridge serves at the end" eval 'wait_for 60 has_cameras && sees'

# Programs that go around the library for V4L2: in a container there is no node.
if [[ $flavour != container ]]; then
  it "it is locked down" capturectl lockdown on --yes
  call='import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = libc.syscall(257, -100, sys.argv[1].encode(), os.O_RDWR)
sys.exit(f"refused: {os.strerror(ctypes.get_errno())}" if number < 0 else 0)'
  it "system-call: a node is closed to who goes around the library" says 'refused: Permission denied' \
    fails alone "$python" -c "$call" "$(camera 1)"
  row system-call "opens the node by a system call of its own, under lockdown" "refused: Permission denied" ""
  it "and open again without the lockdown" capturectl lockdown off
fi
it "the daemon was there all the time" says '^NRestarts=0$' systemctl show -p NRestarts captured
finish
