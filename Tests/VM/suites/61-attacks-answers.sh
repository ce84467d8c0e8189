#!/bin/bash
# Attacks on answers, agents and the store, by programs that anybody can start: each is refused, is told of in the journal,
# and leaves answers and sessions as they were. 60-attacks-identity has those on who somebody is, 62-attacks-samples those on
# each way to pictures and sound. Elsewhere are
#   an agent that is killed while it asks, a daemon that is killed then, a question that is closed: 20-consent (agents,
#   inline, daemon_dies_asking); power cuts: 20-consent (torn)
#   who shares a camera with a program whose consent is withdrawn: 20-consent (withdrawn); memory over a restart of the
#   stream, and zero newer frames a thousand times: Tests/CaptureRingTests and Tests/CaptureDevicesTests
#   messages of wrong types, sizes and names: 30-faults (hostile)
# machine: --systemd --vivid 2 --timeout 2400
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

evil=/home/alice/evil
program=exe:$evil

# attack 'what it tries' PATTERN COMMAND...: the command finds it refused, captured's journal has a line of that pattern
# since, and answers and sessions are what they were when `standing` was last kept
attack() {
  it "refused: $1" attempt "${@:2}"
  sed -n '1s/^/#   journal: /p' "$work/trace"
}
attempt() {
  local pattern=$1
  shift
  keep_cursor
  "$@" || return 1
  journalctl --sync
  wait_for 60 journal_shows "$pattern" || { echo "no '$pattern' in:"; cat "$work/since"; return 1; }
  wait_for 60 unchanged
}
# On a busy machine the journal is behind: a line of what was before must not pass for one of what comes.
keep_cursor() {
  : >"$work/trace"
  journalctl --sync
  # Of a line of captured's: journalctl leaves out the first that matches after a cursor, taking it for the cursor's own.
  cursor=$(journalctl -b -n 1 -q --show-cursor --no-pager _SYSTEMD_UNIT=captured.service | sed -n 's/^-- cursor: //p')
}
journal_shows() {
  journalctl -b --after-cursor "$cursor" _SYSTEMD_UNIT=captured.service -o cat --no-pager >"$work/since"
  grep -E -m 1 -- "$1" "$work/since" >"$work/trace"
}
standing() {
  answers || return 1
  facts capturectl sessions --json && awk -F= '{ split($1, n, ".") } $1 ~ /\.id$/ { id = $2 }
    $1 ~ /\.state$/ && $2 !~ /failed|stopped|interrupted/ { print "session", id, $2 }' "$work/facts"
}
# A machine that is held up shows a session as suspended for a moment.
keep() { wait_for 60 kept; }
kept() { standing >"$work/standing" && ! grep ' suspended$' "$work/standing"; }
unchanged() { standing >"$work/now" && diff "$work/standing" "$work/now"; }

cookie_of() { sed -n 's/^asked \([^ ]*\) .*/\1/p' "$work/$1.out" | tail -n 1; }
agent_serves() { facts capturectl status --json && is health.agents "$1"; }
# asking NAME: evil asks for the microphone in the background
asking() { spawn "$1" alice "$evil" request microphone; }
# asks WORD: evil asks, and is told that
asks() { says "^decision: $1" alone "$evil" request microphone; }
# does PATTERN COMMAND...: a call of a program of alice's that ends by being refused, and says so
does() { refused 0 "$1" alone "${@:2}"; }

prepare() {
  install -m 755 "$checkout/.build/attacks/answers/evil" $evil
  cp $evil /home/alice/panel && cp $evil /home/alice/far && cp $evil /tmp/bobs
  mkdir -p /etc/captured/apps.d
  printf '%s\n' '[Desktop Entry]' Name=Evil X-Capture-Program=$program X-Capture-MicrophoneUsageDescription=Listens \
    X-Capture-CameraUsageDescription=Looks >/etc/captured/apps.d/evil.desktop
  vivid_reset "$(camera 1)" 0 320x180 YUYV && log_in_elsewhere bob && keep
}

agents() {
  spawn bobs bob /tmp/bobs agent yes
  it "bob has an agent" says_in bobs registered
  attack "an agent of another user" "$program does not get the microphone: there is nobody to ask" asks NobodyToAsk
  it "bob was not asked" fails grep -q asked "$work/bobs.out"
  # A session of hers from another machine: her own programs here are none of its business.
  systemd-run --quiet --collect --unit=login-far --uid=alice -p PAMName=login --setenv=XDG_SESSION_CLASS=user \
    -p StandardOutput="file:$work/far.out" /home/alice/far agent yes
  it "alice has an agent in another session" says_in far registered
  attack "an agent of another session of the same user" "nobody to ask in session .* of alice: no agent but" \
    asks NobodyToAsk
  it "it was not asked" fails grep -q asked "$work/far.out"
  systemctl stop login-far

  # The program's own: the same file in another process, and the shipped agent on a terminal that the program holds.
  spawn own alice $evil agent yes
  says_in own registered
  attack "a program that answers its own request" "$program does not get the microphone: there is nobody to ask" \
    asks NobodyToAsk
  it "it was not asked for itself" fails grep -q asked "$work/own.out"
  end evil
  attack "a program that types on the shipped agent's terminal" \
    "agent exe:/usr/bin/capturectl .* is not asked about $program: its terminal is run by [^ ]*$evil \(process .*\), which" \
    says '^decision: NobodyToAsk' alone $evil terminal own capturectl agent
  end evil
  end capturectl
  attack "an inline agent of another program than capturectl" "RegisterAgent was refused to $program" \
    does 'inline refused: NotPermitted' $evil inline
  attack "capturectl on a terminal that is not its own" 'does not get the microphone: there is nobody to ask' \
    expect_exit 75 alone $evil terminal detached capturectl record --camera none --duration 1 detached.wav
  attack "a program that types on the terminal of a capturectl of its own" \
    'does not get the microphone: there is nobody to ask: an agent is there, but its terminal is run by [^ ]*/home/alice/evil .*, which' \
    expect_exit 75 alone $evil terminal foreground capturectl record --camera none --duration 1 own.wav
  attack "capturectl in the background of a terminal" 'does not get the microphone: there is nobody to ask' \
    expect_exit 75 alone $evil terminal background capturectl record --camera none --duration 1 background.wav
  it "no file is left of them" fails ls /home/alice/detached.wav /home/alice/own.wav /home/alice/background.wav

  # A question that is with the right agent, which keeps quiet.
  spawn panel alice /home/alice/panel agent hold
  says_in panel registered
  asking first
  it "the right agent is asked" says_in panel "^asked .* $program"
  local cookie
  cookie=$(cookie_of panel)
  attack "a second agent answers in the place of the first" "Answer was refused to exe:/home/alice/far .*no such question" \
    does 'answer refused: NotPermitted' /home/alice/far answer "$cookie" microphone
  attack "it closes the question" "Dismiss was refused to exe:/home/alice/far" races dismiss "$cookie"
  attack "the program itself answers" "Answer was refused to $program .*no such question" \
    does 'answer refused: NotPermitted' $evil answer "$cookie" microphone
  attack "another user answers" "Answer was refused to exe:/tmp/bobs of bob" \
    refused 0 'answer refused: NotPermitted' bob /tmp/bobs answer "$cookie" microphone
  attack "a guessed cookie" "Answer was refused to exe:/home/alice/far" \
    does 'answer refused: NotPermitted' /home/alice/far answer 00000000000000000000000000000000 microphone
  attack "a cookie of fifty thousand escapes" "Answer was refused to exe:/home/alice/far" \
    does 'long refused: NotPermitted' /home/alice/far long 50000
  attack "a cookie of a megabyte" "Answer was refused to exe:/home/alice/far .*too long values" \
    does 'long refused: InvalidArg' /home/alice/far long 1000000
  it "the question stands all the time" fails grep -q decision "$work/first.out"

  # The requester dies, then the agent answers all the same; then the daemon goes.
  end panel
  it "the agent's end is no answer" says_in first 'decision: NobodyToAsk'
  spawn panel alice /home/alice/panel agent late
  says_in panel registered
  asking dying
  says_in panel "^asked"
  attack "a requester that dies in mid-prompt, and a late answer" 'Answer was refused to exe:/home/alice/panel' dies
  it "the journal tells that it went away" says "$program does not get the microphone: .*went away" cat "$work/since"
  configure timeout '[Consent]\nPromptTimeoutSec=2'
  reload_captured
  attack "an answer after the time for it" 'Answer was refused to exe:/home/alice/panel' too_late
  rm /etc/captured/captured.conf.d/timeout.conf
  reload_captured
  end panel
  spawn panel alice /home/alice/panel agent hold
  says_in panel registered
  asking restarted
  says_in panel "^asked"
  attack "an answer to a question of before the daemon's restart" "Answer was refused to exe:/home/alice/panel" \
    after_restart "$(cookie_of panel)"
  end panel
  end bobs
}
races() {
  spawn racing alice /home/alice/far agent yes
  says_in racing registered && does "$1 refused: NotPermitted" /home/alice/far "$@" && ! grep -q asked "$work/racing.out"
  local status=$?
  end far && return $status
}
dies() { end evil && says_in panel 'late refused: NotPermitted'; }
too_late() {
  : >"$work/panel.out"
  asks TimedOut && says_in panel 'late refused: NotPermitted'
}
after_restart() {
  systemctl restart captured && does 'answer refused: NotPermitted' /home/alice/panel answer "$1" microphone
  local status=$?
  end evil
  return $status
}

# What only a person may do.
settings() {
  attack "a program that sets its own answer" "Set was refused to $program of alice .*password" \
    does 'set refused: NotPermitted' $evil set '' $program microphone authorized
  attack "that sets another user's" "Set was refused to $program" \
    does 'set refused: NotPermitted' $evil set bob $program microphone authorized
  attack "that sets a service's" "Set was refused to $program" \
    does 'set refused: NotPermitted' $evil set '' unit:doorbell.service microphone authorized
  # The right agent says no; what it says after that counts as nothing.
  spawn panel alice /home/alice/panel agent twice
  says_in panel registered
  it "a person says no" asks Denied
  it "which counts" stores "alice $program microphone denied"
  keep
  attack "a second answer with the same cookie" 'Answer was refused to exe:/home/alice/panel' replayed
  end panel
  attack "a program that forgets the no" "Reset was refused to $program" does 'reset refused: NotPermitted' $evil reset $program
  capturectl switch microphone off
  attack "a program that turns the switch on" "SetSwitch was refused to $program" \
    does 'switch refused: NotPermitted' $evil switch microphone
  it "it is off" says 'microphone +off' capturectl switch microphone
  capturectl switch microphone on
  forget
  keep
}
# What the agent was told when it answered, and what another connection is told that has its cookie.
replayed() {
  grep -q '^first ACCEPTED' "$work/panel.out" && grep -q '^second refused: NotPermitted' "$work/panel.out" &&
    ! grep -q '^second ACCEPTED' "$work/panel.out" &&
    does 'answer refused: NotPermitted' /home/alice/panel answer "$(cookie_of panel)" microphone
}

texts() {
  local name
  name=$(printf '/home/alice/e\033[2Jvil\nsays yes')
  cp $evil "$name"
  attack "a program's file with escapes in its name" 'a call of alice was refused: .*control characters' \
    says 'NotPermitted' alone "$name" request microphone
  rm "$name"
  # As a package would install it: the name and the reason are the program's own words.
  printf '%b\n' '[Desktop Entry]' 'Name=\033]0;owned\007\033[2J<b>System</b>\0342\0200\0256etadpu' X-Capture-Program=$program \
    'X-Capture-MicrophoneUsageDescription=\\n\\n\033[1mallow?\033[0m \\ty &amp; \0342\0201\0246all\0342\0201\0251 well\0342\0200\0213' \
    >/etc/captured/apps.d/evil.desktop
  terminal told capturectl agent
  wait_for 60 agent_serves 1
  asking texts
  it "a person is asked" shows told 'allow .*d details\]'
  it "escapes do not reach the terminal" fails grep -qP '\x1b\]|\x1b\[2J|\x1b\[1m|\x07' "$work/told.screen"
  it "nor marks that turn the text around" fails grep -qP '\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\x8b' "$work/told.screen"
  it "nor markup, to whom it means something" fails grep -qE '<b>|&amp;' "$work/told.screen"
  it "no line of it looks like the question" fails grep -qE '^ *allow\? *y' "$work/told.screen"
  attack "a person who says no to such texts is heard" "the person said no to the microphone for $program" types_no
  it "the journal has none of it" fails grep -qP '\x1b|\xe2\x80\xae|<b>' "$work/since"
  forget
  keep
  { printf '%s\n' '[Desktop Entry]' X-Capture-Program=$program; printf X-Capture-MicrophoneUsageDescription=
    head -c 1000000 /dev/zero | tr '\0' W; echo; } >/etc/captured/apps.d/evil.desktop
  attack "a reason of a megabyte" "$program does not get the microphone" asks MissingUsageDescription
  it "no line about it is long" awk 'length > 2500 { exit 1 }' "$work/since"
  end capturectl
  printf '%s\n' '[Desktop Entry]' Name=Evil X-Capture-Program=$program X-Capture-MicrophoneUsageDescription=Listens \
    X-Capture-CameraUsageDescription=Looks >/etc/captured/apps.d/evil.desktop
}
types_no() {
  replies told n && says_in texts 'decision: Denied' && stores "alice $program microphone denied" && forget
}

# Three hundred at once: one question, and the daemon is there for others.
crowd() {
  local before cookie
  spawn panel alice /home/alice/panel agent hold
  says_in panel registered
  before=$(memory VmRSS)
  attack "three hundred requests at once" "RequestAccess was refused to $program .*waiting|RequestAccess was refused .*may wait" crowds
  it "one question was asked" test "$(grep -c '^asked' "$work/panel.out")" = 1
  it "the daemon took no more than 64 MB for it" test $(($(memory VmRSS) - before)) -lt 65536
  it "the journal was not flooded" test "$(wc -l <"$work/since")" -lt 40
  end evil
  it "with the program the question goes" says_in panel '^taken back'
  end panel
}
crowds() {
  spawn crowd alice $evil request microphone 300
  says_in panel '^asked' && timeout 60 capturectl auth whoami >/dev/null && says_in crowd '^taken [1-9][0-9]*, refused [1-9]' 120
}

# What a grant does not open, and what it opened when it is gone.
grants() {
  local session
  capturectl auth set --user alice $program camera authorized
  keep
  attack "a grant for the camera used for the microphone" "$program does not get the microphone: there is nobody to ask" \
    says '^start ended failed: there is nobody to ask' alone $evil session microphone plain
  attack "a session with a camera that adds a microphone" "Configure was refused to $program .*no consent for the microphone" \
    says '^widen refused: NotPermitted' alone $evil session camera widen
  spawn held alice $evil session camera memory
  it "a session hands out its memory" says_in held 'mapped, and frames come'
  session=$(sed -n 's/^running //p' "$work/held.out")
  keep
  attack "the memory of a session, wanted by another program of the same user" \
    "OpenBuffer was refused to exe:/home/alice/far .*only the program that made session .* may have its buffers" \
    does 'open refused: NotPermitted' /home/alice/far open "$session" pictures
  attack "by the program that made it, in another process that was told the session's path" \
    "OpenBuffer was refused to $program .*only the program that made session .* may have its buffers" \
    does 'open refused: NotPermitted' $evil open "$session" pictures
  attack "by a program of another user" "OpenBuffer was refused to exe:/tmp/bobs of bob .*there is no session" \
    refused 0 'open refused: NoSuchSession' bob /tmp/bobs open "$session" pictures
  it "who made it has it still" fails grep -E '^(over|rests)' "$work/held.out"
  : >"$work/standing"
  attack "memory that is kept mapped after the consent is withdrawn" "session .* of $program is failed: the consent for the camera was withdrawn" \
    withdrawn
  it "not a byte of it changed" grep -q 'the memory is as it was' "$work/held.out"
  capturectl auth set --user alice $program camera authorized
  spawn held alice $evil session camera memory
  it "a session hands out its memory again" says_in held 'mapped, and frames come'
  answers >"$work/standing"
  attack "a session of before the daemon's restart" "session .* of $program is (stopped|failed|interrupted)" restarts
  it "its memory is as it was" grep -q 'the memory is as it was' "$work/held.out"
  allow alice camera
  keep
  attack "a running session's connection, handed on to another process by its maker, which ends" \
    'a call of alice was refused: .*cannot be' does 'OpenBuffer refused: NotPermitted' $evil handed end
  attack "the same, the maker being an allowed program then" 'a call of alice was refused: .*has changed' \
    does 'OpenBuffer refused: NotPermitted' $evil handed become /usr/bin/capturectl monitor
  forget
  keep
}
withdrawn() { capturectl auth reset --user alice $program camera && says_in held 'another look refused'; }
restarts() { systemctl restart captured && says_in held 'another look refused'; }

# Who may trace others. Whoever has that right may trace everything, the daemon too, and could be root; it makes nobody another
# program by itself, and a connection that is taken out of an allowed program's hands is in two hands then.
tracers() {
  local stays=/usr/bin/dbus-monitor
  capturectl auth set --user alice exe:$stays camera authorized
  keep
  attack "a program with CAP_SYS_PTRACE asks for itself" "$program does not get the microphone: there is nobody to ask" \
    says '^decision: NobodyToAsk' tracing $evil request microphone
  spawn stays alice $stays --system "interface='nobody.has.this'"
  it "an allowed program of hers has a connection" says_in stays NameAcquired
  if [[ $flavour != fast ]]; then
    attack "a program with CAP_SYS_PTRACE takes it, holds the other, and asks on it" \
      'a call of alice was refused: .*has its connection, too' \
      refused 0 'RequestAccess refused: NotPermitted' tracing $evil steal "$(pgrep -x dbus-monitor)"
  else
    skip "refused: a program with CAP_SYS_PTRACE takes it" "this kernel lists no sockets (CONFIG_UNIX_DIAG)"
  fi
  end dbus-monitor
  forget
  keep
}
# tracing COMMAND...: as alice in her session, with the right to trace every process
tracing() {
  local number variables
  variables_of alice
  (join_session alice && exec setpriv --reuid=alice --regid=alice --init-groups --inh-caps=+sys_ptrace \
    --ambient-caps=+sys_ptrace env -i -C "${as_folder:-/}" "${variables[@]}" setsid --wait "$@" </dev/null)
}

# attack_aside WHAT REASON: as attack for a start that the store refuses, without a look at the answers, which cannot be read
# meanwhile.
attack_aside() {
  it "refused: $1" attempt_aside "$2"
  sed -n '1s/^/#   journal: /p' "$work/trace"
}
attempt_aside() {
  keep_cursor
  refused 74 "$1" alone capturectl start --camera none aside.wav &&
    journalctl --sync && wait_for 60 journal_shows "(does not get the microphone|is failed): .*($1)"
}

# A program that talks to the control socket as the daemon's own door does.
control_socket() {
  keep
  it "refused: a caller of the control socket calls itself root" refused 0 'code=Unreachable .*password' \
    alone $evil forged "$program"
  it "no answer is hers" unchanged
}

it "captured serves" start_captured
high() { "$python" -c 'import os, sys; sys.exit(int(os.ttyname(os.openpty()[1]).split("/")[-1]) < 64)'; }
[[ $flavour != container ]] || it "what holds a terminal here passes for no holder of one outside" high
it "programs of bad will are there" prepare
agents
settings
texts
crowd
grants
tracers
around
control_socket
stores_of_answers
finish
