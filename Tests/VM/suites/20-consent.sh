#!/bin/bash
# Consent on an installed daemon: who is asked, what an answer does, what outlives what.
# machine: --systemd --vivid 2 --timeout 2400 --karg snd_aloop.pcm_substreams=1 --karg snd_dummy.pcm_substreams=1
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

state=/var/lib/captured
both=(--video-format "$(small 10)" --video-codec mjpeg --duration 1)
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
journal_of() { read_journal _SYSTEMD_UNIT=captured.service CAPTURE_CAUSE="$1"; }

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
  it "it still runs" wait_for 20 session_is "$id" running
  it "he does not see her answers" fails says alice bob capturectl auth list
  it "nor what decides about her programs" expect_exit 77 bob capturectl auth explain --user alice $capturectl_program
  configure linger '[Indicator]\nLingerSec=60'
  reload_captured
  it "alice is shown what is in use" in_use live
  it "bob is not" fails says alice bob capturectl status
  it "root may stop it" capturectl stop "$id"
  it "and its file is finished" playable /home/alice/alice.wav
  it "a use that has ended is still shown" in_use ended
  it "alice was told of it" wait_for 60 grep -q '"useChanged".*"ended"' "$work/told.alice"
  capturectl auth set --user bob exe:/bin/false camera denied
  it "bob has heard all until now" wait_for 60 grep -q /bin/false "$work/told.bob"
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

it "captured serves" start_captured
identities
nobody
inline
agents
daemon_dies_asking
settings
policy
machines
others
outlive
finish
