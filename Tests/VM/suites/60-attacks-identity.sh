#!/bin/bash
# Attacks on who asks: programs of alice's, and of others, that would like to be one that she has allowed.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
# shares: attacks
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

own=/home/alice/attacks
# What she has allowed, and stays: a program that has a connection of its own to the bus, and calls nobody there.
allowed=(/usr/bin/dbus-monitor --system "interface='nobody.has.this'")
it_stays() {
  mkdir -p /etc/captured/apps.d
  printf '%s\n' '[Desktop Entry]' Name=Stays X-Capture-Program=exe:/usr/bin/dbus-monitor X-Capture-CameraUsageDescription=Looks \
    >/etc/captured/apps.d/stays.desktop
  capturectl auth set --user alice exe:/usr/bin/dbus-monitor camera authorized &&
    says '"start": "starts"' capturectl auth explain --user alice exe:/usr/bin/dbus-monitor camera --json
}

it "captured is installed, alice sits at the machine" start_captured
it "the attacks are there" arm alice bob
it "her capturectl may have the camera" allow alice camera
it "and so may a program of hers that stays" it_stays
it "capturectl records, so that an attack could" expect_exit 0 alone capturectl photo /home/alice/may.jpg

# Of a connection the bus tells the process that made it, whoever uses it by then and whatever that runs.
hand_over() { alone "$own/hand-over" "$1" "${allowed[@]}"; }
# What an allowed program has of its own, too, is only told apart where the kernel lists sockets, as Debian's does.
listed() {
  [[ $flavour != fast ]] && attack "$@" || skip "$1 is refused: $2" "this kernel lists no sockets (CONFIG_UNIX_DIAG)"
}
attack exec-after-call "connect, call, leave the socket to another process, exec an allowed program" \
  77 'NotPermitted: .*has changed' 'a call of alice was refused: .*has changed: it was exe:/home/alice/attacks/hand-over' \
  hand_over called
attack exec-stopped "the same, the first call being made after the exec, of which the allowed program sees no instruction" \
  77 'NotPermitted: .*another process has its connection' 'a call of alice was refused: .*another process has its connection' hand_over stopped
listed exec-before-call "the same, and the allowed program goes on, with a connection of its own" \
  77 'NotPermitted: .*has its connection|may have its connection' 'a call of alice was refused: .*have its connection|has its connection' hand_over uncalled
listed exec-before-hello "the same, and even the bus is greeted after the exec" \
  77 'NotPermitted: .*ha(s|ve) its connection' 'a call of alice was refused: .*ha(s|ve) its connection' hand_over silent
listed exec-keeping "the same, and the allowed program keeps the socket open, too" \
  77 'NotPermitted: .*has its connection, too' 'a call of alice was refused: .*attacks/hand-over\) has its connection, too' hand_over kept
listed exec-swapped "the same, and the allowed program has a connection that the attacker made in its place" \
  77 'NotPermitted: .*has its connection' 'a call of alice was refused: .*has its connection' hand_over swapped
attack gone "a peer that has ended before it is identified" 77 'NotPermitted: .*cannot be' 'a call of alice was refused: .*cannot be' hand_over ended
attack zombie "a peer that has ended, and is not waited for" 77 'NotPermitted: .*has ended' 'a call of alice was refused: .*has ended' hand_over zombie
few_numbers() {
  if [[ $flavour == container ]]; then renumber; else sysctl -qw kernel.pid_max=1500; fi
}
many_numbers() {
  if [[ $flavour == container ]]; then kill "$renumbering"; else sysctl -qw kernel.pid_max=32768; fi
}
# The limit of a container's numbers is the host's; where they go on is its own.
renumber() {
  local last
  echo 300 >/proc/sys/kernel/ns_last_pid || return 1
  while nap 0.01 && read -r last </proc/sys/kernel/ns_last_pid; do
    ((last < 1500)) || echo 300 >/proc/sys/kernel/ns_last_pid
  done &
  renumbering=$!
}
it "the machine has few process numbers" few_numbers
listed pid-reuse "the peer has ended, and an allowed program has its number" \
  77 'NotPermitted: .*the number of another' 'a call of alice was refused: .*the number of another' \
  alone "$own/pid-reuse" unknown "${allowed[@]}"
it "and many again" many_numbers

# namespaced NAME...: an attack from a mount namespace of its own
namespaced() {
  [[ $flavour != fast ]] && attack "$@" ||
    skip "$1 is refused: $2" "this machine's root is a chroot, where nobody makes user namespaces"
}

# Files that are not what their path says.
over_path() { alone unshare --user --map-root-user --mount sh -c "mount --bind $own/capture /usr/bin/capturectl && exec /usr/bin/capturectl"; }
namespaced mounted-over "another file is mounted over an allowed path, in a namespace of one's own" \
  77 'NotPermitted: .*cannot be identified' 'a call of alice was refused: .*sees another file at /usr/bin/capturectl than' over_path
unlinked() { alone sh -c "cp $own/capture $own/gone && exec $own/gone unlink"; }
attack deleted "a program whose file is gone" 77 'NotPermitted: .*removed or replaced' 'a call of alice was refused: .*removed or replaced' unlinked
attack memory "a program that never was a file" 77 'NotPermitted: .*from memory' 'a call of alice was refused: .*from memory' \
  alone "$own/capture" memory
attack interpreter "an interpreter, which runs what it is given: the dynamic loader" \
  77 'NotPermitted: .*runs programs of others' 'a call of alice was refused: .*runs programs of others' \
  alone /lib64/ld-linux-x86-64.so.2 "$own/capture"

# Sandboxes that are none, and units of a name that is another's.
it "she has a service manager of her own" user_manager alice
printf '%s\n' '[Application]' name=org.gnome.Cheese '[Instance]' instance-id=4711 >$own/info && chown alice: $own/info
root=(--ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin --ro-bind /run /run
  --ro-bind /home /home)
forged() { alone bash -c 'exec 9<"$1" && shift && exec "$@"' forge $own/info bwrap "${root[@]}" --file 9 /.flatpak-info $own/capture; }
namespaced forged-flatpak "a root of one's own with Flatpak's file on it" \
  77 'NotPermitted: .*instead of a scope that Flatpak makes' 'a call of alice was refused: .*it is the Flatpak org.gnome.Cheese, but' forged
namespaced forged-on-disk "the same, the file being one of the disk's" \
  77 'NotPermitted: .*lies on a disk' 'a call of alice was refused: .*lies on a disk' \
  alone bwrap "${root[@]}" --ro-bind $own/info /.flatpak-info $own/capture
unit() { alone systemd-run --user --quiet --wait --pipe --collect --unit="$1" "${@:2}"; }
attack forged-snap "a unit that is named like a snap's" \
  77 'NotPermitted: .*the unit of the snap cheese' 'a call of alice was refused: .*the unit of the snap cheese' unit snap.cheese.cheese.service $own/capture
it "a service of the machine may have the camera" capturectl auth set unit:doorbell.service camera authorized
attack unit-name "a unit of the user's with the name of an allowed one of the system's" \
  77 'session: MissingUsageDescription' 'exe:/home/alice/attacks/capture does not get the camera' unit doorbell.service $own/capture
attack app-unit "a unit of the user's that is named after the allowed program" \
  77 'session: (MissingUsageDescription|NobodyToAsk)' 'app:capturectl does not get the camera' unit app-capturectl.service $own/capture

# What she has allowed in a unit of its own is a file there: others in a unit of that name are not it. An agent says so, since
# who sets an answer by hand names no file of an application.
kept=/home/alice/kept
kept_unit=app-org.example.Kept.service
scope() { alone systemd-run --user --quiet --scope --unit="$1" "${@:2}"; }
she_allows_it() {
  local agent=/home/alice/says-yes
  cp "$own/answers/evil" $kept && cp $kept $agent || return 1
  printf '%s\n' '[Desktop Entry]' Name=Kept X-Capture-Program=app:org.example.Kept X-Capture-CameraUsageDescription=Looks \
    >/etc/captured/apps.d/kept.desktop
  : >"$work/says-yes"
  alone $agent agent yes camera >"$work/says-yes" 2>&1 &
  wait_for 60 grep -q registered "$work/says-yes" || { cat "$work/says-yes"; return 1; }
  says '^decision: granted' unit $kept_unit $kept request camera
  local status=$?
  pkill -KILL -x says-yes && wait_for 20 fails pgrep -x says-yes && return $status
}
known_in() { says '^decision: granted' "$@" $kept request camera; }
it "she says yes to a program in a unit of its own" she_allows_it
it "which is known there without a question" known_in unit $kept_unit
it "and in a scope as desktops name them" known_in scope app-gnome-org.example.Kept-1.scope
attack app-service "another program in a service of hers that is named after it" \
  75 'decision: NobodyToAsk' 'app:org.example.Kept does not get the camera: there is nobody to ask' \
  unit $kept_unit "$own/answers/evil" request camera
attack app-scope "another program in a scope as desktops name them for it" \
  75 'decision: NobodyToAsk' 'app:org.example.Kept does not get the camera: there is nobody to ask' \
  scope app-gnome-org.example.Kept-4711.scope "$own/answers/evil" request camera
it "the machine has few process numbers" few_numbers
attack pid-reuse-known "the peer has ended, and an allowed program of the same unit has its number" \
  77 'NotPermitted: .*has changed' 'a call of alice was refused: .*has changed: it was app:org.example.Kept' \
  unit $kept_unit "$own/pid-reuse" known $kept agent hold
listed pid-reuse-in-unit "the same, the daemon knowing nothing of the peer before" \
  77 'NotPermitted: .*the number of another' 'a call of alice was refused: .*the number of another' \
  unit $kept_unit "$own/pid-reuse" unknown $kept agent hold
it "and many again" many_numbers
# The same file by its number on the disk, with what was written into it since.
written_over() {
  local number
  number=$(stat -c %i $kept) && cp "$own/session" $kept && cp "$own/answers/evil" $kept && [[ $(stat -c %i $kept) == "$number" ]]
}
it "its file is known still" known_in unit $kept_unit
it "its file is written over, in its place" written_over
attack written-over "what was written into the file of an allowed program" \
  75 'decision: NobodyToAsk' 'app:org.example.Kept does not get the camera: there is nobody to ask' \
  unit $kept_unit $kept request camera
it "a yes for whatever runs in units of that name cannot be set" \
  refused 65 'any file can run as app:org.example.Kept, so it can only be allowed when it asks' \
  capturectl auth set --user alice app:org.example.Kept camera authorized

# Those who are no people at the machine register as one. Her home is closed to them.
it "they have a program" install -D -m 755 "$attacks/agent" /usr/local/lib/attack-agent
attack agent-of-a-service "a service registers an agent" \
  77 'RegisterAgent: .*NotPermitted: only people may answer prompts' 'RegisterAgent was refused to unit:evil.service' \
  systemd-run --quiet --wait --pipe --unit=evil.service --uid=daemon /usr/local/lib/attack-agent
attack agent-of-a-uid "a system account registers an agent" \
  77 'RegisterAgent: .*NotPermitted: only people may answer prompts' 'RegisterAgent was refused to uid:' runuser -u games -- /usr/local/lib/attack-agent
sandboxed() {
  alone bash -c 'exec 9<"$1" && shift && exec "$@"' forge $own/info systemd-run --user --quiet --scope \
    --unit=app-flatpak-org.gnome.Cheese-4711.scope bwrap "${root[@]}" --file 9 /.flatpak-info $own/agent
}
namespaced agent-of-a-sandbox "a program in a sandbox registers an agent" \
  77 'RegisterAgent: .*NotPermitted: only people may answer prompts' 'RegisterAgent was refused to flatpak:org.gnome.Cheese' sandboxed
it "the daemon was there all the time" says '^NRestarts=0$' systemctl show -p NRestarts captured
finish
