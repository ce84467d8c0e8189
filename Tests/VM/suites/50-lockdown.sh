#!/bin/bash
# The lockdown: with it the daemon alone opens cameras and microphones, without it all is as it was before. Without the
# bridges, which are 52-bridges'.
# machine: --systemd --vivid 2 --timeout 2400 --karg snd_aloop.pcm_substreams=1 --karg snd_dummy.pcm_substreams=1
# flavours: stock fast
# shares: nodes
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

rule=/etc/udev/rules.d/73-captured-lockdown.rules
loop=hw:Loopback,1,0
both=(--microphone $loop --video-format YUYV:320x180@10 --video-codec mjpeg --duration 1)

# access >FILE: mode, owner, group and access list of every node of video and sound, as lines. Who sits at the machine is
# `seated`, whoever that is.
access() {
  "$python" - "$(id -u alice)" "$(id -u bob)" <<'END'
import glob, os, stat, struct, sys
seated = {int(number) for number in sys.argv[1:]}
names = {0x01: "own", 0x02: "user", 0x04: "owngroup", 0x08: "group", 0x10: "mask", 0x20: "other"}
def entries(node):
    try:
        bytes_ = os.getxattr(node, "system.posix_acl_access")
    except OSError:
        return "none"
    found = []
    for tag, may, number in struct.iter_unpack("<HHI", bytes_[4:]):
        who = "seated" if tag == 2 and number in seated else "" if number == 0xffffffff else str(number)
        found.append(f"{names[tag]}:{who}:{may}")
    return ",".join(found)
nodes = [node for pattern in ("video*", "media*", "vbi*", "radio*", "v4l-touch*", "swradio*", "snd/*", "captured/snd/pcm*c", "dsp*")
         for node in glob.glob("/dev/" + pattern)]
for node in sorted(nodes):
    facts = os.stat(node)
    if stat.S_ISCHR(facts.st_mode):
        print(node, oct(facts.st_mode & 0o777), facts.st_uid, facts.st_gid, entries(node))
END
}
same_access() { diff "$1" "$2"; }
# The nodes that are to be closed: what captures, and its media nodes.
closing() {
  local node
  for node in $(ls -v /sys/class/video4linux | grep '^video'); do
    # The loopback may be both.
    [[ $(<"/sys/class/video4linux/$node/name") != vivid-*-vid-cap && ! -e /sys/devices/virtual/video4linux/$node ]] || echo "/dev/$node"
  done
  ls /dev/media* && ls /dev/captured/snd/pcm*c
}
# closed FILE: those nodes are the daemon's alone, sound's out of sight, and every other is as it was
closed() {
  local owner
  fails ls /dev/snd/pcm*c || return 1
  sed 's|^/dev/snd/\(pcm[^ ]*c \)|/dev/captured/snd/\1|' "$1" >"$work/was"
  owner="0o600 $(id -u captured) $(id -g captured) none"
  closing | sort >"$work/closing"
  access >"$work/now"
  awk -v owner="$owner" 'NR == FNR { wanted[$1]; next } { node = $1; sub(/^[^ ]* /, "") }
    (node in wanted) != ($0 == owner) { print "not as wanted:", node, $0; bad = 1 } END { exit bad }' "$work/closing" "$work/now" &&
    awk 'NR == FNR { wanted[$1]; next } !($1 in wanted)' "$work/closing" "$work/now" | sort >"$work/others" &&
    awk 'NR == FNR { wanted[$1]; next } !($1 in wanted)' "$work/closing" "$work/was" | sort | diff - "$work/others"
}
# capture_fails USER: v4l2-ctl and arecord get nothing of any node
capture_fails() {
  local node failed=0 name
  for node in $(closing); do
    name=${node##*/pcm}
    case $node in
      */video*) as "$1" timeout 60 v4l2-ctl -d "$node" --stream-mmap --stream-count=1 >"$work/captured" 2>&1 ;;
      */pcm*) name=${name#C} && name=${name%c} && as "$1" timeout 60 arecord -q -D "hw:${name/D/,}" -d 1 -f S16_LE -c 2 -r 48000 \
        /dev/null >"$work/captured" 2>&1 ;;
      *) as "$1" dd if="$node" count=0 status=none >"$work/captured" 2>&1 ;;
    esac && echo "$1 has $node" && return 1
    grep -qiE 'permission denied|no such file' "$work/captured" || { echo "$node fails otherwise:"; cat "$work/captured"; failed=1; }
  done
  return $failed
}
captures() { # USER
  as "$1" timeout 120 v4l2-ctl -d "$(camera 1)" --stream-mmap --stream-count=2 &&
    as "$1" timeout 120 arecord -q -D $loop -d 1 -f S16_LE -c 2 -r 48000 /dev/null
}
# refused CODE PATTERN COMMAND...: nothing was changed by it, too
refuses() { refused "$@" && [[ ! -e $rule ]]; }

it "captured is installed, alice sits at the machine" start_captured
it "she may capture by it" allow alice camera microphone
it "both cameras are set" eval 'vivid_reset "$(camera 1)" && vivid_reset "$(camera 2)"'
it "a tone sounds" play_tone 1000 600
udevadm settle --timeout=60
access >"$work/before"
it "past it she captures too" captures alice
it "which doctor tells" says 'advice +lockdown: consent is advisory' capturectl doctor

# What holds a node keeps it, and is named.
held=$(camera 2)
as alice v4l2-ctl -d "$held" --stream-mmap >/dev/null 2>&1 &
holder=$!
names_holder() { says "v4l2-ctl .*alice +$held\$" cat "$work/refused"; }
it "her program holds a camera" wait_for 30 fails v4l2-ctl -d "$held" --set-fmt-video=width=640,height=480
it "a user does not lock down" refuses 77 'sudo capturectl lockdown on' as alice capturectl lockdown on
it "nothing is locked down unasked" refuses 64 '\-\-yes' setsid --wait capturectl lockdown on </dev/null
it "what stops was said: PipeWire" grep -q 'PipeWire, WirePlumber and PulseAudio lose cameras and microphones' "$work/refused"
it "and what runs now" grep -qE '^v4l2-ctl +alice +cameras and microphones that it opens itself' "$work/refused"
it "and who has a node" names_holder
# asked KEYS: root is asked on a terminal, types that, and the command's status is kept
asked() {
  mkfifo "$work/root.keys" && exec {keys}<>"$work/root.keys" || return 1
  "$python" -S "$vm/lib/guest/terminal.py" "$work/root.keys" -- capturectl lockdown on --no-bridges >"$work/root.screen" 2>&1 </dev/null &
  wait_for 60 grep -q 'Lock them down?' "$work/root.screen" && types root "$1"
  wait $!
}
it "root is asked, and a no changes nothing" eval 'expect_exit 75 asked "n\n" && [[ ! -e $rule ]]'
it "it is locked down" refused 0 'locked down: only the daemon can open cameras' capturectl lockdown on --yes --no-bridges
it "who has a node was said again" names_holder
it "every node is the daemon's, those of outputs and playback are as they were" closed "$work/before"
it "who has a node has it still, as root sees" says "$held +camera +only captured +v4l2-ctl \([0-9]+, alice\)" capturectl lockdown status
it "and the user herself" says "$held .*v4l2-ctl \([0-9]+, alice\)" as alice capturectl lockdown status
holders() { as "$1" busctl --json=short call org.capturekit.Capture1 /org/capturekit/Capture1 org.capturekit.Capture1.Manager ListHolders; }
it "the daemon tells her" says "\"$held\"" holders alice
it "doctor tells that it is locked down" says 'ok +lockdown: the machine is locked down' capturectl doctor
pkill -KILL -x -u alice v4l2-ctl
wait $holder 2>/dev/null
it "she captures past the daemon from no node" capture_fails alice
it "and records through it" alone capturectl record --camera "$(camera 1)" "${both[@]}" --json through.mkv
it "with picture and sound" eval 'playable /home/alice/through.mkv && (($(frame_count /home/alice/through.mkv) > 0))'

# What is plugged in later, and who sits down later.
it "cameras and sound are unplugged" eval 'stop_tone; unplug_cameras && unplug_sound snd_dummy'
it "and plugged in again" eval 'plug_cameras && plug_sound snd_dummy && udevadm settle --timeout=60'
it "they are the daemon's from the start" closed "$work/before"
it "which lists them" wait_for 30 says 'vivid' capturectl devices
it "alice leaves" log_out alice
it "bob sits down" log_in bob
as_folder=/
held=$(camera 2)
it "he gets no node" closed "$work/before"
it "nor captures from one" capture_fails bob
hold() {
  v4l2-ctl -d "$1" --stream-mmap >/dev/null 2>&1 &
  holder=$!
  wait_for 30 fails v4l2-ctl -d "$1" --set-fmt-video=width=640,height=480
}
it "root's programs have nodes past the daemon all the same" eval 'vivid_reset "$held" && hold "$held"'
it "the daemon tells root" says "\"$held\"" holders root
it "and not him" eval 'says "\"data\":\[\[\]\]" holders bob'
kill $holder
wait $holder 2>/dev/null
it "captured is not taken off now" says 'capturectl lockdown off' fails make -C "$checkout" uninstall PREFIX=/usr
it "twice is once" refused 0 'locked down: only the daemon' capturectl lockdown on --yes --no-bridges

# As after a boot of a machine with cameras alone: no sound device has made the folder of hidden nodes.
# In the order of their numbers, which they get again.
sounds=$(for card in /sys/class/sound/card?; do basename "$(realpath "$card/device")" .0; done)
each_sound() { local driver; for driver in $sounds; do "$1" "$driver" || return 1; done; }
no_sound() { systemctl stop captured && each_sound unplug_sound && rm -rf /dev/captured && make_places; }
sound_again() { each_sound plug_sound && udevadm settle --timeout=60; }
it "no sound device is there" no_sound
it "the daemon starts without" systemctl start captured
it "sound devices come" sound_again
it "the daemon lists them" wait_for 30 says 'Loopback' capturectl devices
it "they are the daemon's" closed "$work/before"

# And back.
it "it is taken back" refused 0 'not locked down: consent is advisory' capturectl lockdown off
it "the rule is gone" fails test -e $rule
access >"$work/after"
it "every node is as it was, open to who sits there" same_access "$work/before" "$work/after"
vivid_reset "$(camera 1)"
it "a tone sounds" play_tone 1000 60
it "who sits there captures past the daemon again" captures bob
it "taken back twice is once" refused 0 'not locked down' capturectl lockdown off
stop_tone

# Taken off by force, it does not leave a machine without cameras.
capturectl lockdown on --yes --no-bridges 2>/dev/null
rm /usr/libexec/captured
it "without the daemon's program, what is plugged in is not locked" eval 'unplug_cameras && plug_cameras && udevadm settle --timeout=60'
access >"$work/after"
it "but open as without the rule" eval 'diff <(grep "^$(camera 1) " "$work/before") <(grep "^$(camera 1) " "$work/after")'
it "and a lockdown that nobody needs is said to be in part" says 'locked down in part' capturectl lockdown status
finish
