#!/bin/bash
# What goes wrong on an installed system, each with its exit code: killed processes and hostile callers; and what the
# installation promises of itself. 12-faults-devices has faults of devices, disks and pipes, 31-memory a lack of memory,
# 61-attacks-answers a damaged store.
# machine: --systemd --vivid 2 --timeout 2400 --karg snd_dummy.pcm_substreams=1
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

picture=(--microphone none --video-format "$(small 5)" --video-codec mjpeg)
sound=(--camera none --microphone hw:Loopback,1) rate=5
[[ $flavour != container ]] || sound=(--camera none --microphone synthetic:microphone) rate=15

# Reloads one after the other, for three times what the watchdog waits.
reloads_often() {
  local before id daemon end
  daemon=$(main_pid captured)
  # The watchdog is off while the daemon captures nothing, so a sound must be recorded.
  it "a sound is recorded in the background" started often.flac "${sound[@]}"
  end=$((SECONDS + $(emulated && echo 15 || echo 30)))
  before=$(reloads)
  while ((SECONDS < end)); do systemctl reload captured || break; done
  it "after many reloads the daemon is the same" test "$(main_pid captured)" = "$daemon"
  it "the recording goes on" wait_for 20 session_is "$id" running
  it "and has read its configuration" wait_for 60 reloaded_since "$((before + 5))"
  capturectl stop "$id"
  it "and serves" works
}
# A rule ends a recording whose recorder does not come to its end, for longer than the watchdog waits.
reload_waits() {
  local unit before rule=/etc/captured/policy.d/50-suite.conf
  before=$(main_pid captured)
  it "a movie is recorded whose recorder then stands still" recording stuck stuck.mkv "${picture[@]}"
  unit=$(recorders)
  systemctl kill --signal=STOP "$unit"
  mkdir -p "${rule%/*}"
  printf '%s\n' '[Rule]' Service=camera User=alice Decision=restrict >$rule
  reload_captured
  it "a rule ends its use of the camera" wait_for 60 says 'capturectl +claimed +camera +revoked' capturectl history
  wait_factor=1 it "the daemon waits for its file, for longer than the watchdog does" fails wait_for 25 new_daemon "$before"
  it "and answers meanwhile" wait_for 20 session_is "$id" running
  rm $rule
  it "it reads its configuration meanwhile, too" reload_captured
  systemctl kill --signal=CONT "$unit"
  it "the recorder goes on: the session has failed" wait_for 60 session_is "$id" failed
  it "its client is told of the rule" ended stuck 77
  it "its file is finished" finished /home/alice/stuck.mkv
}
# Who is away is asked of logind, which stands still, for longer than the watchdog waits; a rule of the same reading counts.
logind_waits() {
  local before again other rule=/etc/captured/policy.d/50-suite.conf
  before=$(main_pid captured)
  again=$(reloads)
  it "a movie records by itself" started away.mkv "${picture[@]}"
  other=$id
  it "a sound file is recorded" recording ruled ruled.flac "${sound[@]}"
  printf '%s\n' '[Rule]' Service=microphone User=alice Decision=restrict >$rule
  configure suite '[Consent]\nStopWhenLocked=yes'
  it "logind stands still" systemctl kill --signal=STOP systemd-logind
  it "the configuration is read anew meanwhile" systemctl reload captured
  it "a rule ends what records" wait_for 60 session_is "$id" failed
  it "by itself, and not since nobody can tell who is there" says "withdrawn: .*$rule:1 says restrict" capturectl status --json "$id"
  it "its client is told" ended ruled 77
  it "its file is finished" finished /home/alice/ruled.flac
  it "logind has not answered in time: the rest is in force, too" wait_for 60 reloaded_since "$again"
  it "the movie ends, since nobody can tell who is there" wait_for 60 session_is "$other" interrupted
  it "which it is told" says '"reasonCode": "UserAway"' capturectl status --json "$other"
  it "its file is finished" finished /home/alice/away.mkv
  it "and the daemon is the same" test "$(main_pid captured)" = "$before"
  systemctl kill --signal=CONT systemd-logind
  rm $rule /etc/captured/captured.conf.d/suite.conf
  it "logind goes on: all is as it was" reload_captured
  it "and the next start works" works
}
hang() { kill -STOP "$(main_pid captured)"; }

daemons() {
  daemon_dies killed 'code=killed, status=9/KILL' kill_hard captured
  # A busy emulator must not pass for a hung daemon.
  unit_setting captured.service WatchdogSec=10 TimeoutAbortSec=5
  systemctl restart captured
  reloads_often
  reload_waits
  logind_waits
  daemon_dies hung 'Watchdog timeout' hang
  unit_default captured.service
  systemctl restart captured
  systemctl reset-failed captured 2>/dev/null
  it "stopped: a movie is recorded" recording stopped stopped.mkv "${picture[@]}"
  it "stopped: systemctl stop ends the daemon" systemctl stop captured
  it "stopped: without a failure" fails systemctl is-failed --quiet captured
  it "stopped: the movie is finished" finished /home/alice/stopped.mkv
  # It was asked for more than it got.
  it "stopped: the client is told" wait_for 60 grep -qx 69 "$work/stopped.status"
  it "stopped: nothing is left running" recorders_are 0
  it "activation by the bus starts it" works
  it "a second daemon refuses" expect_exit 75 timeout 60 /usr/libexec/captured --bus system --state-dir "$work/second"
  it "the first goes on" works
}

clients() {
  local other pid frames victim bystander
  it "a session runs by itself" started other.flac "${sound[@]}"
  other=$id
  bystander=$(recorders)
  it "a movie is recorded" recording lost lost.mkv "${picture[@]}"
  victim=$(recorders | grep -vxF "$bystander")
  it "its recorder is killed" systemctl kill --signal=KILL "$victim"
  it "its client exits 74" ended lost 74
  it "its session failed" session_is "$id" failed
  it "with that reason" says '"reasonCode": "RecorderLost"' capturectl status --json "$id"
  frames=$(frames_of "$id")
  it "its file plays up to the last second" test "$(frame_count /home/alice/lost.mkv)" -ge $((frames - 2 * rate - 3))
  it "the other session goes on" wait_for 20 session_is "$other" running

  it "a movie is recorded, too" recording crash crash.mkv "${picture[@]}"
  victim=$(recorders | grep -vxF "$bystander")
  it "its recorder crashes" systemctl kill --signal=SEGV "$victim"
  it "its client exits 74" ended crash 74
  it "and names the signal, and where to look" grep -q 'killed by signal 11 (Segmentation fault); see .coredumpctl' "$work/crash.out"
  it "its file plays" playable /home/alice/crash.mkv

  it "a movie is recorded again" recording gone gone.mkv "${picture[@]}"
  frames=$(frames_of "$id")
  pid=$(pgrep -f '^capturectl record.*gone.mkv')
  it "its client is killed" kill -KILL "$pid"
  it "the session ends with it" wait_for 60 session_is "$id" stopped
  it "its file is whole" whole /home/alice/gone.mkv "$frames"
  it "the session of a client that left runs still" wait_for 20 session_is "$other" running
  it "another process stops it" alone capturectl stop "$other"
  it "its file is finished" finished /home/alice/other.flac
  it "to stop it twice is an error" expect_exit 66 alone capturectl stop "$other"
}

hostile() {
  local before
  before=$(main_pid captured)
  it "messages of wrong types, sizes, names and descriptors are refused" "$python" -S "$vm/lib/guest/hostile_bus.py"
  it "agents are called by the daemon alone" says 'Access denied|not allowed|rejected' as alice busctl call \
    org.capturekit.Capture1 /agent org.capturekit.Capture1.Agent Cancel s x
  it "nobody else may have its name" fails as alice busctl call org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus RequestName su org.capturekit.Capture1 0
  it "the daemon lives" test "$(main_pid captured)" = "$before"
  it "and serves" works
}

configuration() {
  configure bad '[Consent]\nPromptTimeoutSec=3\nPromptTimeoutSec=never\n[Nonsense]\nX=1'
  it "a bad configuration is read" reload_captured
  it "the journal tells file, line and what would be right" \
    journal_says captured 'bad.conf:3: .*never.*PromptTimeoutSec.*expected a time'
  it "an unknown section, too" journal_says captured 'bad.conf:[45]: .*Nonsense'
  it "doctor tells of it" says 'PROBLEM configuration: .*bad.conf:3' capturectl doctor
  rm /etc/captured/captured.conf.d/bad.conf
  it "mended, nothing is left to say" mended
}
mended() { reload_captured && says 'ok +configuration' capturectl doctor; }

installation() {
  local pid unit
  it "systemd-analyze verify is silent" quiet systemd-analyze verify /usr/lib/systemd/system/captured{.service,-recorder.socket,-recorder@.service}
  it "the interfaces are the documented ones" documented
  it "a movie is recorded" recording sandbox sandbox.mkv --camera "$(camera 1)" "${picture[@]}"
  pid=$(main_pid captured)
  it "the daemon has no codec in it" fails grep -E 'libav(codec|format)|libx264' "/proc/$pid/maps"
  it "it runs as nobody special" test "$(stat -c %U "/proc/$pid")" = captured
  unit=$(recorders)
  pid=$(main_pid "$unit")
  it "a recorder is outside of the daemon's group" fails grep -q captured.service "/proc/$pid/cgroup"
  it "it has codecs" grep -q libavcodec "/proc/$pid/maps"
  it "it has no network" test "$(awk -F: 'NR > 2 { print $1 }' "/proc/$pid/net/dev" | tr -d ' \n')" = lo
  it "it is nobody whom files belong to" test "$(stat -c %u "/proc/$pid")" -ge 61184
  it "its file is the one that it was passed" holds_file "$pid" /home/alice/sandbox.mkv
  it "alice cannot start a recorder" fails as alice "$python" -c \
    "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('/run/captured-recorder.socket')"
  alone capturectl stop "$id"
  it "the journal has the session's fields" logged "CAPTURE_SESSION=$id" CAPTURE_STATE=running \
    "CAPTURE_PROGRAM=$capturectl_program" CAPTURE_USER=1000
  it "and the decision's" logged CAPTURE_DECISION=authorized CAPTURE_SERVICE=camera "CAPTURE_PROGRAM=$capturectl_program" \
    CAPTURE_TIER=claimed
}
# holds_file PID FILE: by the file, since one that was given its name later has none in /proc on every kernel
holds_file() {
  local open
  for open in "/proc/$1/fd"/*; do [[ ! $open -ef $2 ]] || return 0; done
  ls -l "/proc/$1/fd"
  return 1
}
logged() { [[ -n $(journalctl -b -u captured -o cat --no-pager "$@") ]]; }
documented() {
  local interface name
  busctl introspect org.capturekit.Capture1 /org/capturekit/Capture1 >"$work/introspected" || return 1
  for interface in Manager Authorization; do
    for name in $(sed -n "/<interface name=\"org.capturekit.Capture1.$interface\">/,/<\/interface>/p" \
      /usr/share/dbus-1/interfaces/org.capturekit.Capture1.xml | sed -n 's/.*<\(method\|signal\|property\) name="\([^"]*\)".*/\2/p'); do
      grep -q "^\.$name " "$work/introspected" || { echo "$interface.$name is missing"; return 1; }
    done
  done
}

it "captured serves" start_captured
forget
allow alice camera microphone
vivid_reset "$(camera 1)" 0 320x180 YUYV
installation
daemons
clients
hostile
configuration
finish
