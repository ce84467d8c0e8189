#!/bin/bash
# A daemon that is masked, missing or broken, programs that the bus does not let in, an agent without a desktop, and
# uninstalling on a running system.
# machine: --systemd --vivid 1 --timeout 1500
# flavours: stock fast container
# installed: no
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# One command line of each command that takes the daemon.
commands=(
  'devices' 'formats' 'control' 'record --camera none --duration 1 x.flac' 'start --camera none x.flac' 'stop 1'
  'photo y.jpg' 'frames' 'listen' 'metadata' 'library list' 'library add x.jpg' 'auth list' 'auth whoami' 'auth agents' 'auth explain'
  'auth set exe:/usr/bin/true camera denied' 'auth reset exe:/usr/bin/true' 'switch camera off' 'history' 'sessions'
  'status' 'monitor'
)
# A second, and what starting a process costs here.
limit() {
  local before
  before=$(date +%s%3N)
  capturectl --version >/dev/null
  # Where it is emulated, the other processes that take part cost as much.
  echo $((1000 + $(emulated && echo 10 || echo 2) * ($(date +%s%3N) - before)))
}

# tells WHY TURN: each command exits with 69 in time, saying that and naming doctor. On an emulated
# processor only every third one is tried, from TURN on: the three reasons together try all of them.
tells() {
  local line before after status limit bad=0 number step=1 try
  ! emulated || step=3
  for ((number = step == 1 ? 0 : $2; number < ${#commands[@]}; number += step)); do
    line=${commands[number]}
    # A machine may be held up meanwhile; what waits for a time limit is late every time.
    for try in 1 2 3 4 5 6; do
      # What a process costs just now, since other programs of the host come and go.
      limit=$(limit)
      before=$(date +%s%3N)
      # shellcheck disable=SC2086
      (cd "$work" && timeout 60 capturectl $line 2>&1) </dev/null | head -c 2000 >"$work/tells"
      status=${PIPESTATUS[0]}
      after=$(date +%s%3N)
      [[ $status == 69 ]] && ((after - before <= limit)) &&
        grep -q "\($1\|is not running\).*capturectl doctor" "$work/tells" && continue 2
    done
    echo "capturectl $line: status $status after $((after - before)) ms: $(cat "$work/tells")"
    bad=1
  done
  return $bad
}
doctor_says() { refused 69 "$1" capturectl doctor; }

absent() {
  touch "$work/x.jpg"
  systemctl stop captured
  systemctl mask --quiet captured
  it "with a masked unit each command is told so at once" tells 'captured.service is masked' 0
  it "doctor has the command that unmasks it" doctor_says 'sudo systemctl unmask captured.service'
  systemctl unmask --quiet captured

  unit_setting captured.service ExecStart= ExecStart=/bin/false
  it "with a unit that fails each command is told so at once" tells 'captured.service \(failed (exit-code)\|ended at once\)' 1
  it "doctor shows where to look" doctor_says 'journalctl -u captured'
  unit_default captured.service
  systemctl stop captured

  mv /usr/lib/systemd/system/captured.service "$work/captured.service"
  systemctl daemon-reload
  it "without its unit each command is told so at once" tells 'captured.service \(is not installed\|not found\)' 2
  it "doctor has the command that installs it" doctor_says 'unit is missing'
  mv "$work/captured.service" /usr/lib/systemd/system/captured.service
  systemctl daemon-reload

  # The bus still waits for the start that failed, 25 seconds long, and asks for no other until then.
  it "a daemon that is only stopped is started by a command, even if that takes long" capturectl devices
  systemctl stop captured
  it "or else at once" capturectl devices
  it "the bus learns that it is killed" killed
  it "one that was killed is waited for" capturectl devices
}
# A call of before that is lost with the daemon.
killed() {
  local before
  before=$(owner) && kill_hard captured && wait_for 20 owner_is_not "$before"
}
owner() {
  busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus GetNameOwner s org.capturekit.Capture1
}
owner_is_not() { [[ $(owner) != "$1" ]]; }

dynamic() {
  local -a unit=(systemd-run --quiet --wait --pipe -p DynamicUser=yes)
  it "a unit with DynamicUser= is told what is missing, and what to write where" \
    refused 69 "DynamicUser=.*: write 'u NAME' into /etc/sysusers.d/NAME.conf.*write 'User=NAME' in place of DynamicUser=yes" \
    "${unit[@]}" capturectl record --camera none --duration 1 /tmp/x.flac
}

quiet() {
  as alice capturectl devices >/dev/null
  it "a program of a user's runs" as alice capturectl auth whoami
  it "so does a recording" record "$work/quiet.flac" --camera none --duration 1
  it "no program asks for a priority that it may not have" fails journal_has 'thread priority'
}
journal_has() { journalctl -b -o cat --no-pager | grep -E -- "$1"; }

given_up() { [[ $(manager show -P ActiveState captured-agent) == failed ]]; }
agent() {
  it "alice has a service manager" user_manager alice
  mkdir -p /home/alice/portals
  printf '%s\n' '[portal]' DBusName=org.example.Gone Interfaces=org.freedesktop.impl.portal.Access \
    >/home/alice/portals/gone.portal
  manager set-environment XDG_DESKTOP_PORTAL_DIR=/home/alice/portals
  manager start captured-agent
  it "an agent without a desktop ends" wait_for 60 given_up
  it "it is not tried again" says '^0$' manager show -P NRestarts captured-agent
  it "its status says what to install" says 'Status: .*install xdg-desktop-portal-gtk' manager status captured-agent
  it "so does doctor" says 'install xdg-desktop-portal-gtk; systemctl --user restart captured-agent' \
    as alice env DISPLAY=:0 XDG_DESKTOP_PORTAL_DIR=/home/alice/portals capturectl doctor
}

uninstall() { make -s -C "$checkout" uninstall PREFIX=/usr; }
unknown() { [[ $(systemctl show -P LoadState "$1") == not-found ]]; }
removed() {
  systemctl enable --quiet captured captured-recorder.socket
  it "it uninstalls, and says how to purge" says 'rm -rf /var/lib/captured /etc/captured && userdel captured' uninstall
  it "no service of its is left" no_process
  it "its folder in /run is gone" test ! -e /run/captured
  it "systemd knows none of them" unknown captured.service
  it "none is enabled" fails compgen -G '/etc/systemd/system/*.wants/captured*'
  it "no program is left" fails compgen -G '/usr/*/capture*'
  it "answers stay" test -d /var/lib/captured
}
no_process() { fails pgrep -l '^captured'; }

it "captured is installed and runs" serve
it "alice is logged in" log_in alice
quiet
dynamic
agent
absent
removed
finish
