#!/bin/bash
# Consent on an installed daemon: who is asked, what an answer does, what outlives what. The second boot follows a power cut.
# machine: --systemd --vivid 2 --timeout 2400 --karg snd_aloop.pcm_substreams=1 --karg snd_dummy.pcm_substreams=1
# flavours: stock fast
# boots: 2
# cuts: 1
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

state=/var/lib/captured
both=(--video-format YUYV:320x180@10 --video-codec mjpeg --duration 1)
sound=(--camera none --duration 1)

identities() {
  it "who alice's command is can be asked" facts as alice capturectl auth whoami --json
  it "it is known by its file" is program exe:/usr/bin/capturectl
  it "which is a claim" is tier claimed
  cp /usr/bin/capturectl /home/alice/mine && cp /usr/bin/capturectl /tmp/mine
  it "a program in a home directory is known" says 'exe:/home/alice/mine' as alice ./mine auth whoami
  it "one in a temporary directory is known" says 'exe:/tmp/mine' as alice /tmp/mine auth whoami
  it "a replaced one is not" says 'cannot be identified' replaced
}
replaced() { as alice bash -c 'cp mine gone && exec 9<gone && rm gone && exec /proc/self/fd/9 auth whoami'; }

nobody() {
  it "without a terminal and an agent there is nobody to ask" refused 75 'nobody to ask' \
    alone capturectl start "${sound[@]}" nobody.wav
  it "nothing is stored" stores_nothing
  it "no file is left" fails test -e /home/alice/nobody.wav
  it "a program without a reason is refused, and told the line that is missing" \
    refused 78 'X-Capture-MicrophoneUsageDescription=.*~/.config/captured/apps.d/home-alice-mine.desktop' \
    alone ./mine start "${sound[@]}" mine.wav
  it "nothing is stored for it" stores_nothing
}

# Show 5: a program that was denied.
denied() {
  refuse alice camera microphone
  # One that is traced is slow, which must not pass for hung.
  unit_setting captured.service WatchdogSec=300
  systemctl restart captured
  if [[ $flavour == stock ]]; then denied_traced; else skip "the daemon's calls are traced" "this kernel's ptrace stops threads for good"; fi
  refuse alice microphone
  it "denied sound exits 77" expect_exit 77 alone capturectl start "${sound[@]}" denied.wav
  it "denied frames do" expect_exit 77 alone capturectl frames --count 1
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

# One question of two rows, on the terminal of the command itself.
inline() {
  terminal no capturectl record "${both[@]}" no.mkv
  it "one question has a row for the camera" shows no 'camera: it says'
  it "and a row for the microphone" shows no 'microphone: it says'
  replies no nn
  it "a no exits 77" ends no 77
  it "it is stored" stores "alice $capturectl_program camera denied"
  it "the next is not asked" expect_exit 77 alone capturectl record "${both[@]}" no.mkv
  it "no file is left" fails test -e /home/alice/no.mkv
  forget

  terminal closed capturectl record "${both[@]}" closed.mkv
  replies closed '\x04'
  it "a closed question exits 75" ends closed 75
  it "nothing is stored of it" stores_nothing
  it "and no file is left" fails test -e /home/alice/closed.mkv

  terminal half capturectl record "${both[@]}" half.mkv
  replies half yn
  it "a yes and a no exit 77" ends half 77
  it "the yes is stored" stores "alice $capturectl_program camera authorized"
  it "and so is the no" stores "alice $capturectl_program microphone denied"
  forget

  terminal yes capturectl record "${both[@]}" yes.mkv
  replies yes yy
  it "two yeses record" ends yes 0
  it "a picture" has /home/alice/yes.mkv video codec_name mjpeg
  it "and sound" has /home/alice/yes.mkv audio codec_type audio
  terminal again capturectl record "${both[@]}" again.mkv
  it "the second time it records" ends again 0
  it "and does not ask" fails grep -q 'wants to use' "$work/again.screen"
  it "nor without a terminal" expect_exit 0 alone capturectl record "${sound[@]}" third.wav
  forget
}

# A program without a terminal, asked about by an agent on another.
agents() {
  local asking agent
  mkdir -p /etc/captured/apps.d
  printf '%s\n' '[Desktop Entry]' Name=Mine X-Capture-Program=exe:/home/alice/mine \
    X-Capture-MicrophoneUsageDescription=Listens >/etc/captured/apps.d/mine.desktop
  terminal agent capturectl agent
  wait_for 60 agent_serves
  alone ./mine record "${sound[@]}" mine.wav 2>/dev/null &
  asking=$!
  it "the agent shows who asks" shows agent '“Mine” wants to use the microphone'
  it "and why" shows agent 'Listens'
  replies agent y
  it "its yes records" wait $asking
  it "the answer is that program's" stores 'alice exe:/home/alice/mine microphone authorized'
  it "and no other's" expect_exit 77 asked_no
  it "a no is stored, too" stores "alice $capturectl_program microphone denied"
  forget

  configure timeout '[Consent]\nPromptTimeoutSec=2'
  reload_captured
  it "a question that is not answered in time exits 75" expect_exit 75 alone ./mine record "${sound[@]}" late.wav
  it "it is taken from the screen" shows agent 'withdrawn'
  it "nothing is stored of it" stores_nothing
  rm /etc/captured/captured.conf.d/timeout.conf
  reload_captured

  (alone ./mine record "${sound[@]}" killed.wav 2>/dev/null; echo $? >"$work/asking") &
  wait_for 60 pgrep -x mine >/dev/null && wait_for 60 is_asked agent
  agent=$(pgrep -f '^capturectl agent')
  kill -KILL "$agent"
  it "an agent killed while it asks exits 75" wait_for 60 grep -qx 75 "$work/asking"
  it "nothing is stored of that" stores_nothing
  it "the daemon was there all the time" stayed
  it "no file is left of these" fails ls /home/alice/late.wav /home/alice/killed.wav
}
stayed() { says '^NRestarts=0$' systemctl show -p NRestarts captured ||
  { journal captured | grep -B 5 -A 2 'Main process exited'; return 1; }; }
daemon_dies_asking() {
  local agent
  systemctl reset-failed captured
  terminal second capturectl agent
  wait_for 60 agent_serves
  (alone capturectl record "${sound[@]}" asked.wav 2>/dev/null; echo $? >"$work/asked") &
  shows second 'allow .*d details\]'
  kill_hard captured
  it "a daemon killed while it asks exits 69" wait_for 60 grep -qx 69 "$work/asked"
  it "its agent is told" ends second 69
  it "nothing is stored of it" stores_nothing
}
agent_serves() { facts capturectl status --json && is health.agents 1; }
asked_no() {
  alone capturectl record "${sound[@]}" other.wav 2>/dev/null &
  local asking=$!
  shows agent "“capturectl” wants to use the microphone" && replies agent n
  wait $asking
}

# What root decides before anybody is asked.
policy() {
  local id rule=/etc/captured/policy.d/50-suite.conf
  allow alice microphone
  id=$(alone capturectl start --camera none policy.wav)
  rules Service=microphone User=alice Decision=restrict
  it "a rule is read" reload_captured
  it "it ends what runs" wait_for 60 session_is "$id" failed
  it "which is told the file and line" says "withdrawn: .*$rule:1 says restrict" capturectl status --json "$id"
  it "what it recorded is playable" playable /home/alice/policy.wav
  it "so is the next start" refused 77 "$rule:1 says restrict" alone capturectl start --camera none policy2.wav
  it "the journal knows it" says "policy .*$rule:1 says restrict" journal_of policy
  it "the list shows it above the yes" says "restricted +claimed +$rule:1" as alice capturectl auth list
  it "explain tells what decides" says "decided by +policy: $rule:1 says restrict" \
    as alice capturectl auth explain $capturectl_program microphone
  it "she cannot change it" refused 77 "$rule:1" alone capturectl auth set $capturectl_program microphone authorized
  chmod o+w $rule
  it "a file that others can write to is no policy" reload_captured
  it "and refuses everybody" refused 77 "$rule: can be written by others" capturectl record "${sound[@]}" /tmp/policy.wav
  it "doctor tells how to mend it" says "chmod go-w '$rule'" capturectl doctor
  rm $rule
  reload_captured
  it "without it the answer counts again" expect_exit 0 alone capturectl record "${sound[@]}" policy3.wav
  forget
}
rules() { mkdir -p /etc/captured/policy.d && printf '%s\n' '[Rule]' "$@" >/etc/captured/policy.d/50-suite.conf; }
journal_of() { journalctl -b -o cat --no-pager _SYSTEMD_UNIT=captured.service CAPTURE_CAUSE="$1"; }

settings() {
  it "alice may tighten her own consent" as alice capturectl auth set $capturectl_program camera denied
  it "status tells" says 'camera.*denied' as alice capturectl auth status
  it "loosening it takes her password" refused 77 'takes your password' alone capturectl auth set $capturectl_program camera authorized
  it "and so does forgetting a no" expect_exit 77 alone capturectl auth reset $capturectl_program
  it "nor may she set another's" expect_exit 77 alone capturectl auth set --user bob $capturectl_program camera denied
  it "root may" allow alice camera
  it "list shows it" says "$capturectl_program +camera +authorized" as alice capturectl auth list
  it "alice may forget a yes" as alice capturectl auth reset $capturectl_program camera
  it "and it is gone" stores_nothing
  it "a malformed program is refused" expect_exit 64 capturectl auth set nonsense camera denied
}

# Above all answers: everything of a kind, for everybody.
switched() {
  local id
  allow alice camera microphone
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

# Those who are not people: a unit, a uid of its own.
machines() {
  cat >/run/systemd/system/doorbell.service <<'U'
[Service]
Type=oneshot
User=daemon
RuntimeDirectory=doorbell
RuntimeDirectoryPreserve=yes
ExecStart=/usr/bin/capturectl record --camera none --duration 1 --overwrite /run/doorbell/ring.wav
[X-Capture]
MicrophoneUsageDescription=Listens at the door
U
  sed 's/doorbell/rootbell/; /^User=/d' /run/systemd/system/doorbell.service >/run/systemd/system/rootbell.service
  systemctl daemon-reload
  systemctl start doorbell 2>/dev/null
  it "a service has nobody to ask" test "$(systemctl show -P ExecMainStatus doorbell)" = 75
  rules Service=microphone Program=unit:doorbell.service Decision=allow
  reload_captured
  it "policy allows a service without an answer" systemctl start doorbell
  rm /etc/captured/policy.d/50-suite.conf
  reload_captured
  it "a service cannot be allowed by alice" expect_exit 77 alone capturectl auth set unit:doorbell.service microphone authorized
  it "root allows a service" capturectl auth set unit:doorbell.service microphone authorized
  it "then it records" systemctl start doorbell
  it "a file of its own" playable /run/doorbell/ring.wav
  systemctl start rootbell 2>/dev/null
  it "another service is not meant by that" test "$(systemctl show -P ExecMainStatus rootbell)" = 75
  it "root's unit is a service by its name" stores 'root unit:doorbell.service microphone authorized'
  capturectl auth set unit:rootbell.service microphone authorized
  it "and records, too" systemctl start rootbell
  useradd --system --shell /usr/sbin/nologin sensor
  local number
  number=$(id -u sensor)
  mkdir -p /run/sensor && chown sensor /run/sensor
  it "a system account is known by its number" says "\"uid:$number\"" runuser -u sensor -- capturectl auth whoami --json
  it "it says why nowhere" expect_exit 78 runuser -u sensor -- capturectl record "${sound[@]}" /run/sensor/a.wav
  capturectl auth set "uid:$number" microphone authorized
  it "allowed by root it records" runuser -u sensor -- capturectl record "${sound[@]}" /run/sensor/a.wav
  it "it may not change consent" expect_exit 77 runuser -u sensor -- capturectl auth set exe:/bin/true camera denied
  forget
}

bob() { local as_folder=/; as bob "$@"; }
others() {
  local id
  allow alice microphone
  log_in_elsewhere bob
  alone capturectl monitor --json >"$work/told.alice" 2>&1 &
  bob setsid --wait capturectl monitor --json >"$work/told.bob" 2>&1 </dev/null &
  # Matches all that the bus lets through, and asks for nothing.
  bob setsid --wait dbus-monitor --system "sender='org.capturekit.Capture1'" >"$work/told.silent" 2>&1 </dev/null &
  it "who listens is told of answers of their own" wait_for 60 hears alice
  it "and so is another user" wait_for 60 hears bob
  wait_for 60 grep -q NameAcquired "$work/told.silent"
  id=$(alone capturectl start --camera none alice.wav)
  it "alice is told of her session" wait_for 60 grep -q '"sessionChanged".*"running"' "$work/told.alice"
  it "bob does not see alice's session" fails says alice bob capturectl sessions
  it "nor its counters" expect_exit 66 bob capturectl status "$id"
  it "nor may he stop it" expect_exit 66 bob capturectl stop "$id"
  it "it still runs" session_is "$id" running
  it "he does not see her answers" fails says alice bob capturectl auth list
  it "nor what decides about her programs" expect_exit 77 bob capturectl auth explain --user alice $capturectl_program
  configure linger '[Indicator]\nLingerSec=60'
  reload_captured
  it "alice is shown what is in use" in_use live
  it "bob is not" fails says alice bob capturectl status
  it "root may stop it" capturectl stop "$id"
  it "and its file is finished" playable /home/alice/alice.wav
  it "a use that has ended is still shown" in_use ended
  it "alice was told of it" grep -q '"useChanged".*"ended"' "$work/told.alice"
  it "bob was told of nothing that is hers" fails grep -E 'session|useChanged|alice' "$work/told.bob"
  it "who asks for nothing is told of nothing of anybody's" fails grep -E 'Session|UseChanged|member=Changed' "$work/told.silent"
  kill $(pgrep -f '^capturectl monitor|^dbus-monitor')
  rm /etc/captured/captured.conf.d/linger.conf
  reload_captured
  forget
}
hears() { capturectl auth set --user "$1" exe:/bin/true camera denied; grep -q consentChanged "$work/told.$1"; }
in_use() { facts alone capturectl status --json && grep -q "^uses\.[0-9]*\.state=$1" "$work/facts"; }

outlive() {
  allow alice microphone
  systemctl restart captured
  it "an answer outlives a restart" expect_exit 0 alone capturectl record "${sound[@]}" restart.wav
  systemctl reset-failed captured
  kill_hard captured
  wait_for 60 restarted
  it "and a killed daemon" expect_exit 0 alone capturectl record "${sound[@]}" kill.wav
  forget
}
restarted() { active captured && [[ $(systemctl show -P NRestarts captured) -gt 0 ]]; }

# Recordings on their way to the disk when the power goes: of four seconds at most one may be missing.
torn_files=(torn.mkv torn.mp4 torn.wav)
torn() {
  local file service
  mkdir -p $state/torn
  for service in camera microphone; do capturectl auth set "$(myself)" "$service" authorized; done
  for file in "${torn_files[@]}"; do
    local video=("${both[@]:0:4}")
    [[ $file != *.wav ]] || video=(--camera none)
    it "$file is recorded" begin_torn "$file" "${video[@]}"
  done
  for file in "${torn_files[@]}"; do it "$file has four seconds" wait_for 120 has_recorded "${torn[$file]}" 4; done
}
declare -A torn
# A start beside two others takes its time where the machine is emulated, and may be given up as too slow.
begin_torn() {
  for _ in 1 2 3; do torn[$1]=$(capturectl start "${@:2}" "$state/torn/$1") && return; done
}
# By what can be decoded: a head that was written before the cut knows no length. Encoded sound comes in 1024 samples.
survived() {
  if [[ $1 == *.wav ]]; then
    awk -v d="$(duration "$state/torn/$1")" 'BEGIN { exit !(d >= 3) }'
  else
    (($(stream_value "$state/torn/$1" audio nb_read_frames) >= 3 * 48000 / 1024 && $(frame_count "$state/torn/$1") >= 10))
  fi || { probe "$state/torn/$1" | grep -E 'duration|frames'; return 1; }
}

case $boot in
  1)
    it "what is stored lies on a disk" mount_state $state
    it "captured serves" start_captured
    identities
    nobody
    denied
    withdrawn
    inline
    agents
    daemon_dies_asking
    settings
    policy
    machines
    others
    switched
    outlive
    refuse bob camera
    terminal last capturectl record --camera none last.wav
    replies last y
    it "an answer is given at the last moment" wait_for 60 says running capturectl sessions
    torn
    power_cut
    ;;
  2)
    it "what was stored before the power cut is there" mount_state $state
    it "captured serves again" start_captured
    it "the yes is there" stores "alice $capturectl_program microphone authorized"
    it "and the no" stores "bob $capturectl_program camera denied"
    it "it records without asking" expect_exit 0 alone capturectl record "${sound[@]}" after.wav
    it "a file that is playable" playable /home/alice/after.wav
    for file in "${torn_files[@]}"; do it "$file lost a second at most" survived "$file"; done
    ;;
esac
finish
