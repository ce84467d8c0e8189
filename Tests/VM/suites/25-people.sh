#!/bin/bash
# Who is there to be asked, by the word of the machine's own logind, systemd, buses and polkit: two sessions of one user, a
# session that is locked, another user at the seat, the desktop's agent below a service manager; and where nothing can be
# written any more.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
# shares: people
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

state=/var/lib/captured
sound=(--camera none --duration 1)
# The program that asks, whichever agent answers: `asks request microphone`.
asks=/home/alice/asks
program=exe:$asks

# times NAME COUNT PATTERN: so many lines of it match
times() { [[ $(grep -cE -- "$3" "$work/$1.out") == "$2" ]] || { cat "$work/$1.out"; return 1; }; }
# asked HERE THERE: how often each of alice's agents was asked until now
asked() { times here "$1" '^asked' && times there "$2" '^asked'; }
# hears WHAT COMMAND...: what comes of its request for the microphone is that
hears() { says "^decision: $1" "${@:2}" request microphone; }
journal_of() { read_journal _SYSTEMD_UNIT=captured.service CAPTURE_CAUSE="$1"; }
# serves COUNT: so many agents are registered
serves() { facts capturectl status --json && is health.agents "$1"; }
# agents_are PROGRAMS COMMAND...: the agents that it lists, the latest first
agents_are() {
  local wanted=$1 seen
  shift
  "$@" --json >"$work/agents" || return 1
  seen=$(grep -oE '"program" ?: ?"[^"]*"' "$work/agents" | cut -d'"' -f4 | xargs)
  [[ $seen == "$wanted" ]] || { cat "$work/agents"; return 1; }
}
rest() {
  rm -f /etc/captured/captured.conf.d/suite.conf
  reload_captured
  forget
}

prepare() {
  local name
  for name in asks here there other; do
    install -o alice -m 755 "$checkout/.build/attacks/answers/evil" /home/alice/$name || return 1
  done
  install -m 755 "$checkout/.build/attacks/answers/evil" /usr/local/lib/asks &&
    install -m 755 "$checkout/.build/people/desktop" /home/alice/desktop || return 1
  mkdir -p /etc/captured/apps.d
  for name in asks other; do
    printf '%s\n' '[Desktop Entry]' Name=Asker X-Capture-Program=exe:/home/alice/$name \
      X-Capture-MicrophoneUsageDescription='Listens to you' >/etc/captured/apps.d/$name.desktop
  done
  cat >/run/systemd/system/bell.service <<'U'
[Service]
Type=oneshot
TimeoutStartSec=3min
User=daemon
ExecStart=/usr/local/lib/asks request microphone
[X-Capture]
MicrophoneUsageDescription=Listens at the door
U
  systemctl daemon-reload
  seat=$(session_of alice)
  [[ -n $seat ]]
}

# One user twice: at the machine, and from elsewhere.
sessions() {
  spawn here alice /home/alice/here agent yes
  it "alice has an agent at the machine" says_in here registered
  systemd-run --quiet --collect --unit=login-far --uid=alice -p PAMName=login --setenv=XDG_SESSION_CLASS=user \
    -p StandardOutput="file:$work/there.out" /home/alice/there agent yes
  it "and from elsewhere another, which came last" says_in there registered
  it "she sees both, the latest first" agents_are 'exe:/home/alice/there exe:/home/alice/here' alone capturectl auth agents
  it "root sees them, too" agents_are 'exe:/home/alice/there exe:/home/alice/here' capturectl auth agents
  far=$(scopes | grep -vx "$seat")
  log_in_elsewhere bob
  it "bob sees neither" agents_are '' bob capturectl auth agents
  log_out bob
  it "he leaves" wait_for 60 fails logged_in bob
  it "a program at the machine gets a yes" hears granted alone $asks
  it "from the agent there, and the other is not asked" asked 1 0
  forget
  it "one that she runs from elsewhere gets one, too" hears granted elsewhere $asks
  it "from the agent of that session" asked 1 1
  forget
  it "a service of the machine gets one" systemctl start bell
  it "in the session that is in front" asked 2 1
  it "it is the machine's" stores 'root unit:bell.service microphone authorized'
  it "from elsewhere she may not take it back" refused 77 'the person at this machine may only' \
    elsewhere capturectl auth set unit:bell.service microphone denied
  it "where she sits she may" alone capturectl auth set unit:bell.service microphone denied
  it "then it is a no" stores 'root unit:bell.service microphone denied'
  it "which she may not make a yes" refused 77 'only root' alone capturectl auth set unit:bell.service microphone authorized
  it "nor have forgotten" refused 77 'only root' alone capturectl auth reset unit:bell.service
  it "it is a no still" stores 'root unit:bell.service microphone denied'
  forget
  end here
  it "without an agent at the machine a program there is refused, and told where one was looked for" \
    hears "NobodyToAsk there is nobody to ask in session $seat of alice" alone $asks
  systemctl start bell 2>/dev/null
  it "so is a service" bell_is 75
  it "the journal tells, too" says "unit:bell.service does not get .*in session $seat of alice, who sits at this machine" \
    journal captured
  it "the agent elsewhere was not asked" times there 1 '^asked'
  systemctl stop login-far
  it "nothing is stored" stores_nothing
}

# What the daemon does can be followed in the journal, by room.
followed() {
  unit_setting captured.service Environment=CAPTURE_LOG=debug,rings=trace
  it "captured starts with every room's lines" systemctl restart captured
  allow alice microphone
  it "a recording is made" expect_exit 0 alone capturectl record "${sound[@]}" followed.wav
  it "the bus tells of the call" tells bus 'calls org.capturekit.Capture1.Manager.CreateSession'
  it "consent of the decision" tells authorization 'decided: \["microphone is authorized"\]'
  it "the engine of the device" tells engine '(alsa|synthetic):.* is open'
  it "rings of each buffer" tells rings 'slot [0-9]+ is published: buffer [0-9]+'
  unit_default captured.service
  it "and starts without them" systemctl restart captured
  forget
}
tells() { says "$2" read_journal "CAPTURE_ROOM=captured.$1"; }
bell_is() { [[ $(systemctl show -P ExecMainStatus bell) == "$1" ]] || { systemctl status bell; return 1; }; }
scopes() { loginctl list-sessions --no-legend | awk '$3 == "alice" { print $1 }'; }
# elsewhere COMMAND...: as alice, in the session from elsewhere
elsewhere() {
  local words
  as_words alice
  (
    echo $BASHPID >"/sys/fs/cgroup/user.slice/user-1000.slice/session-$far.scope/cgroup.procs"
    exec setsid --wait "${words[@]}" "$@" </dev/null
  )
}

# Her screen locker, and somebody else at the machine: with StopWhenLocked= nothing of hers captures meanwhile.
away() {
  local id recording
  allow alice microphone
  configure suite '[Consent]\nStopWhenLocked=yes'
  reload_captured
  it "alice records" recording locked.wav
  it "her screen is locked: the recording ends with 77" told_off locked 'is locked' locked true
  it "the session is interrupted, by that" says '"reasonCode": "UserAway"' capturectl status --json "$id"
  it "its file is whole" playable /home/alice/locked.wav
  it "nothing starts meanwhile" refused 77 'is locked' alone capturectl record "${sound[@]}" no.wav
  it "the journal tells whose session it was" says "session $seat of alice is locked" journal_of user-away
  it "it is unlocked" locked false
  it "and she records again, without a question" expect_exit 0 alone capturectl record "${sound[@]}" unlocked.wav

  it "she records on" recording left.wav
  it "bob sits down at the machine: the recording ends with 77" told_off left 'bob sits at seat0 now' log_in bob 8
  it "its file is whole" playable /home/alice/left.wav
  it "nothing starts meanwhile" refused 77 'bob sits at seat0 now' alone capturectl record "${sound[@]}" no.wav
  systemctl start bell 2>/dev/null
  it "a service is asked of bob now" says "in session $(session_of bob) of bob, who sits at this machine" journal captured
  it "alice is in front again" loginctl activate "$seat"
  it "and records" expect_exit 0 alone capturectl record "${sound[@]}" back.wav
  log_out bob
  rest
}
# recording FILE: in the background; sets id
recording() {
  local before
  before=$(newest_session)
  alone capturectl record --camera none "$1" >"$work/${1%.*}.out" 2>&1 &
  recording=$!
  wait_for 60 newer_session "${before:-0}" && id=$(newest_session) && wait_for 60 has_recorded "$id" 0.5
}
newer_session() { (($(newest_session) > $1)); }
# told_off NAME PATTERN COMMAND...: after the command the recording ends with 77, and says so
told_off() {
  "${@:3}" || return 1
  expect_exit 77 wait "$recording" && says_in "$1" "$2"
}
# locked true|false: as her screen locker tells logind
locked() {
  local login=org.freedesktop.login1 path
  path=$(busctl call $login /org/freedesktop/login1 $login.Manager GetSession s "$seat" | cut -d '"' -f 2) &&
    as alice busctl --quiet call $login "$path" $login.Session SetLockedHint b "$1"
}

# A person who closes the question each time, and is not to be asked forever.
limit() {
  local try
  spawn here alice /home/alice/here agent close
  says_in here registered
  configure prompts '[Consent]\nPromptLimitIntervalSec=1h'
  reload_captured
  for try in first second third; do
    it "a question is closed for the $try time" refused 75 'closed without an answer' \
      alone capturectl listen "${sound[@]:2}"
  done
  it "then nobody is asked for that program" refused 75 'asked 3 times within 3600 s' alone capturectl listen "${sound[@]:2}"
  it "not even by another command of it" refused 75 'may ask again in' alone capturectl record "${sound[@]}" often.wav
  it "of which it knows before it starts" says 'refused.*asked 3 times|asked 3 times' alone capturectl auth explain $capturectl_program microphone
  it "three questions were put" times here 3 '^asked'
  it "another program still has one" hears Dismissed alone $asks
  it "put to the same person" times here 1 "^asked .* $program"
  configure prompts '[Consent]\nPromptLimitIntervalSec=0'
  reload_captured
  it "without a limit the first is asked again" refused 75 'closed without an answer' alone capturectl listen "${sound[@]:2}"
  it "nothing is stored of all this" stores_nothing
  end here
}

# A yes for a program that any other of hers could pass for, where that takes her password.
password() {
  spawn here alice /home/alice/here agent yes
  says_in here registered
  configure suite '[Consent]\nPasswordForClaimed=yes'
  reload_captured
  it "a yes without her password does not count" hears 'Dismissed .*takes your password' alone $asks
  it "and is not stored" stores_nothing
  it "a rule of polkit's says no" polkit_says NO
  it "nor does it then" hears 'Dismissed .*takes your password' alone $asks
  it "and is not stored, either" stores_nothing
  it "a rule says yes" polkit_says YES
  it "then it counts" hears granted alone $asks
  it "and is stored" stores "alice $program microphone authorized"
  it "a person was asked each time" times here 3 '^asked'
  rm /etc/polkit-1/rules.d/10-suite.rules
  systemctl restart polkit
  end here
  rest
}
# polkit_says RESULT [ACTION]
polkit_says() {
  mkdir -p /etc/polkit-1/rules.d
  printf 'polkit.addRule(function(action) {\n  if (action.id == "org.capturekit.capture1.%s") return polkit.Result.%s;\n});\n' \
    "${2:-allow-claimed}" "$1" >/etc/polkit-1/rules.d/10-suite.rules
  chmod 755 /etc/polkit-1/rules.d
  systemctl restart polkit
}

# A yes to a service counts for everybody at the machine, and any program of hers could have given it: it takes her password,
# which she types where polkit's own agent asks for it. A no takes none.
service_password() {
  spawn here alice /home/alice/here agent yes
  says_in here registered
  configure suite '[Consent]\nPasswordForServices=yes'
  reload_captured
  systemctl start bell 2>/dev/null
  it "a yes to a service without her password does not count" bell_is 75
  it "the service is told" says 'Dismissed .*unit:bell.service.*takes your password' journal bell
  it "and the journal" says 'unit:bell.service does not get the microphone.*takes your password' journal captured
  it "nothing is stored" stores_nothing
  chpasswd <<<'alice:of alice'
  local agent
  agent=$(pgrep -x here)
  terminal polkit pkttyagent --process "$agent"
  # For this very process: others may have had one before.
  it "polkit has an agent of its own there" wait_for 60 says "Registered Authentication Agent for unix-process:$agent:" \
    journalctl -b -o cat --no-pager -t polkitd
  systemctl start --no-block bell
  it "polkit's own agent asks for her password, and tells what for" shows polkit 'to let bell .unit:bell.service.*microphone'
  it "it is hers that is meant" shows polkit 'Authenticating as: alice'
  wait_for 40 prompted 1 && types_hidden polkit 'of bob\n'
  it "a wrong one does not count" wait_for 60 bell_ended 75
  it "nothing is stored of it" stores_nothing
  systemctl start --no-block bell
  wait_for 40 prompted 2 && types_hidden polkit 'of alice\n'
  it "with it the yes counts" wait_for 60 bell_ended 0
  it "and is the machine's" stores 'root unit:bell.service microphone authorized'
  it "a person was asked each time" times here 3 '^asked'
  end here
  end pkttyagent
  forget
  spawn here alice /home/alice/here agent no
  says_in here registered
  systemctl start bell 2>/dev/null
  it "a no takes none" bell_is 77
  it "and is stored" stores 'root unit:bell.service microphone denied'
  end here
  rest
}

# Each command that takes a password, on a terminal where no agent of polkit's runs: the command brings one.
command_passwords() {
  chpasswd <<<'alice:of alice'
  capturectl switch camera off
  password_of on "switching on" switch camera on
  it "cameras are on again" says 'camera +on' capturectl switch
  local program=exe:/usr/bin/aplay
  password_of yes "a yes" auth set $program microphone authorized
  it "the yes is stored" stores "alice $program microphone authorized"
  as alice capturectl auth set $program microphone denied
  password_of gone "forgetting a no" auth reset $program microphone
  it "the no is forgotten" fails stores "alice $program microphone denied"
  # The command gives the bus up, tries the control socket, which cannot ask for a password, and connects to the bus anew.
  as alice capturectl auth set $program microphone denied
  it "the bus stops" pkill -STOP -x -u messagebus dbus-daemon
  terminal slow capturectl auth reset $program microphone
  it "the command goes by the control socket" wait_for 30 connects_anew 'auth reset'
  it "the bus goes on" pkill -CONT -x -u messagebus dbus-daemon
  it "a slow bus asks for her password all the same" shows slow 'Password:'
  types_hidden slow 'of alice\n'
  it "and the right one counts" ends slow 0
  it "the no is forgotten, too" fails stores "alice $program microphone denied"
  it "without a terminal it ends at once, with the command for root" refused 77 'as root: sudo capturectl switch camera on$' \
    eval 'capturectl switch camera off && alone capturectl switch camera on'
  capturectl switch camera on
  forget
}
# password_of NAME WHAT COMMAND...
password_of() {
  local name=$1 what=$2
  shift 2
  terminal "$name-wrong" capturectl "$@"
  it "$what asks for her password" shows "$name-wrong" 'Password:'
  types_hidden "$name-wrong" 'of bob\n'
  it "$what: a wrong one does not count" ends "$name-wrong" 77
  it "$what: the command for root is named" shows "$name-wrong" "as root: sudo capturectl ${1} "
  terminal "$name-cancelled" capturectl "$@"
  it "$what asks again" shows "$name-cancelled" 'Password:'
  types "$name-cancelled" '\003'
  it "$what: it is cancelled" eval "wait_for 60 test -s '$work/$name-cancelled.status' && fails ends '$name-cancelled' 0"
  terminal "$name-right" capturectl "$@"
  it "$what asks once more" shows "$name-right" 'Password:'
  types_hidden "$name-right" 'of alice\n'
  it "$what: the right one counts" ends "$name-right" 0
}

# connects_anew WORDS: alice's capturectl with these words has a second socket
connects_anew() {
  local process
  process=$(pgrep -u alice -f "^capturectl $1") && (($(find "/proc/$process/fd" -lname 'socket:*' | wc -l) >= 2))
}

# prompted COUNT: so often polkit's own agent asked for a password
prompted() { (($(grep -ac 'Password:' "$work/polkit.screen") == $1)); }
bell_ended() { [[ $(systemctl show -P ActiveState bell) == @(failed|inactive) ]] && bell_is "$1"; }

# captured-agent.service, as her service manager runs it. Where no desktop is, it is given up at once: that goes on while
# other things are looked at.
desktop_is_missing() {
  it "alice has a service manager" user_manager alice
  mkdir -p /home/alice/portals
  printf '%s\n' '[portal]' DBusName=org.freedesktop.impl.portal.desktop.suite Interfaces=org.freedesktop.impl.portal.Access \
    UseIn=suite >/home/alice/portals/suite.portal
  manager set-environment XDG_DESKTOP_PORTAL_DIR=/home/alice/portals
  it "the desktop's agent is started where no desktop is" manager start captured-agent
}
agent_is() { [[ $(manager show -P "$1" captured-agent) == "$2" ]] || { manager status captured-agent; return 1; }; }
desktop() {
  local before
  it "it is given up" wait_for 120 agent_is ActiveState failed
  it "as an agent with nobody to ask" agent_is ExecMainStatus 75
  it "it says what is missing, and what to install" \
    says 'suite.portal names .*not running and cannot be started; install xdg-desktop-portal-gtk' \
    journalctl -b -o cat --no-pager -t capturectl "_UID=$(id -u alice)"
  it "nobody is asked by it" serves 0

  spawn desktop alice /home/alice/desktop
  it "a desktop is there" says_in desktop there
  manager reset-failed captured-agent
  it "its agent is started again" manager start captured-agent
  it "and registers" wait_for 60 serves 1
  it "a program in her session gets a yes" hears granted alone $asks
  it "in a dialog of the desktop's" times desktop 1 '^dialog Allow “Asker” to use the microphone.*Listens to you'
  forget
  it "so does one below her service manager" hears granted \
    as alice systemd-run --user --quiet --wait --pipe $asks
  it "in another dialog" times desktop 2 '^dialog'
  forget
  before=$(manager show -P MainPID captured-agent)
  it "it is killed" kill -KILL "$before"
  it "and is there again by itself" wait_for 120 agent_since "$before"
  it "and asked" hears granted alone $asks
  it "in a third dialog" times desktop 3 '^dialog'
  forget
  it "an application in a sandbox gets one" hears granted sandbox org.example.Cam /app/asks
  it "known by its id and tier, and by the reason that it brings along" \
    times desktop 1 '^dialog .*flatpak:org.example.Cam, identified by its sandbox.*Takes notes'
  it "the answer is the sandbox's" stores 'alice flatpak:org.example.Cam microphone authorized'
  it "with it any program of the sandbox captures" sandbox org.example.Cam /usr/bin/capturectl listen "${sound[@]:2}"
  it "another that says so of itself, in that one's scope, is nobody" says 'NotPermitted.*its scope is that of org.example.Cam' \
    sandbox org.example.Forged /app/asks request microphone
  forget
  manager stop captured-agent
  it "an agent that is stopped is asked no more" serves 0
  it "and without any a sandbox has nobody to ask, either" \
    hears "NobodyToAsk there is nobody to ask in session $seat of alice" sandbox org.example.Cam /app/asks
  end desktop
}
agent_since() { [[ $(manager show -P MainPID captured-agent) != "$1" ]] && serves 1; }
# sandbox ID COMMAND...: in the scope of one application as Flatpak starts it, a root of its own in memory that says which it
# is. Made by root, who may put it into the scope from outside of it.
sandbox() {
  local scope=app-flatpak-org.example.Cam-7.scope group status
  as alice systemd-run --user --scope --quiet --unit=$scope sleep infinity &
  wait_for 30 manager is-active --quiet $scope || return 1
  group=/sys/fs/cgroup$(manager show -P ControlGroup $scope)
  mkdir -p /home/alice/app/share/applications && cp $asks /home/alice/app/asks
  printf '%s\n' '[Desktop Entry]' Name=Camera X-Capture-MicrophoneUsageDescription='Takes notes' \
    >/home/alice/app/share/applications/org.example.Cam.desktop
  chown -R alice: /home/alice/app
  setsid --wait unshare --mount bash -c '
    set -e
    root=$(mktemp -d) && mount -t tmpfs tmpfs "$root" && cd "$root"
    mkdir -p usr run app proc etc && ln -s usr/lib lib && ln -s usr/lib64 lib64 && ln -s usr/bin bin
    mount --bind /usr usr && mount --bind /run run && mount --bind /etc etc && mount --bind /home/alice/app app
    mount --bind /proc proc
    printf "%s\n" "[Application]" "name=$1" "[Instance]" instance-id=7 >.flatpak-info
    chown 1000:1000 .flatpak-info && chmod 600 .flatpak-info
    echo $$ >"$0/cgroup.procs"
    shift
    exec chroot --userspec=1000:1000 . "$@"' "$group" "$@" </dev/null
  status=$?
  manager stop $scope
  return $status
}

# Where answers and history are kept is full: nothing starts that could not be told of, and nothing that was said is lost.
full() {
  local id ballast=$state/ballast until=1h
  it "through all of this it was one daemon" says '^NRestarts=0$' systemctl show -p NRestarts captured
  systemctl stop captured
  mount -t tmpfs -o size=1M,mode=0700,uid=captured,gid=captured tmpfs $state
  systemctl reset-failed captured 2>/dev/null
  it "captured serves on a small disk" systemctl start captured
  it "a program has a yes" capturectl auth set --user alice $program microphone authorized
  [[ $flavour != container ]] || until=60s
  it "another one with an end" capturectl auth set --user alice --until "$until" $capturectl_program microphone authorized
  id=$(alone capturectl start --camera none dated.wav)
  it "with which it records" wait_for 60 has_recorded "$id" 0.5
  head -c 2M /dev/zero >$ballast 2>/dev/null
  it "the disk is full: what runs goes on" wait_for 20 session_is "$id" running
  it "a start is refused for that" refused 74 'full|No space' alone capturectl start --camera none full.wav
  it "nothing is captured" fails compgen -G '/home/alice/full*'
  it "the journal tells" says "capturectl (is failed|does not get the microphone): .*full" journal captured
  it "nor does the other program get it" hears '[^g].*(full|No space)' alone $asks
  it "no answer is taken back" refused 74 'full|No space' capturectl auth set --user alice $program microphone denied
  # The date of a container is the host's.
  [[ $flavour == container ]] || date -s '+2 hours' >/dev/null
  it "until its time has come" wait_for 60 session_is "$id" failed
  it "which it is told" says 'its end date has passed' capturectl status --json "$id"
  it "its file is whole" playable /home/alice/dated.wav
  it "the daemon is there all the time" says '^NRestarts=0$' systemctl show -p NRestarts captured
  rm $ballast
  it "there is space again: who had a yes has it still" hears granted alone $asks
  it "what ended has ended" expect_exit 75 alone capturectl record "${sound[@]}" ended.wav
  it "what was recorded meanwhile is in the history, with its end" \
    says 'capturectl +claimed +microphone +revoked +[0-9]+:[0-9]' capturectl history
  it "an answer can be given" allow alice microphone
  it "and counts" expect_exit 0 alone capturectl record "${sound[@]}" after.wav
  systemctl stop captured
  umount $state
}

it "captured serves, alice sits at the machine" start_captured
it "she has programs" prepare
sessions
followed
desktop_is_missing
away
limit
password
service_password
command_passwords
desktop
full
finish
