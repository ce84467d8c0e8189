# The system around a test: the installed daemon, people, logins, and state that outlives a boot.

# have_captured: captured is installed, and its user and folders are there. Some machines boot with its files in place.
have_captured() {
  if [[ -x /usr/libexec/captured ]]; then make_places; else install_captured; fi
}
# No service of the machine's does this at boot.
make_places() {
  systemd-sysusers && systemd-tmpfiles --create /usr/lib/tmpfiles.d/captured*.conf || return 1
  # One that runs already has left out what its policy says of a user that was not there.
  ! systemctl -q is-active dbus || systemctl reload dbus || return 1
  [[ $flavour != container ]] || synthetic_devices
}
# A container has no drivers.
synthetic_devices() { configure synthetic '[Synthetic]\nEnabled=yes'; }
# start_udev: in a container, which has none because its /sys is the host's. This one cannot write there, and hears of
# none of the host's devices, because it listens to no group of the kernel's.
start_udev() {
  local unit folder
  for unit in systemd-udevd.service systemd-udevd-{control,kernel}.socket; do
    folder=/run/systemd/system/$unit.d
    mkdir -p "$folder" && printf '[Unit]\nConditionPathIsReadWrite=\n' >"$folder/container.conf" || return 1
  done
  printf '[Socket]\nListenNetlink=\nListenNetlink=kobject-uevent 0\n' >>"$folder/container.conf" &&
    systemctl daemon-reload && systemctl start systemd-udevd{-control,-kernel}.socket systemd-udevd
}
# install_captured: as a packager does it, into the overlay, which is thrown away with the machine. Builds nothing; what
# `run` has installed into a folder is copied.
install_captured() {
  if [[ -d ${CAPTURE_TEST_INSTALLED:-} ]]; then
    cp -R --remove-destination "$CAPTURE_TEST_INSTALLED/." / || return 1
  else
    make -C "$checkout" install PREFIX=/usr || return 1
  fi
  [[ -d /run/systemd/system ]] || return 0
  systemctl daemon-reload && make_places && if pidof systemd-udevd >/dev/null; then
    udevadm control --reload && udevadm trigger --subsystem-match=video4linux --subsystem-match=sound &&
      udevadm settle --timeout=60
  fi && bus_reload
}
bus_reload() {
  busctl --quiet call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig
}

# as USER COMMAND...: with that user's own environment, in their login session and with their session bus where they have
# one; from `as_folder`
as() {
  local words
  as_words "$1"
  (join_session "$1" && shift && exec "${words[@]}" "$@")
}
become=$checkout/.build/people/become
# as_words USER: sets `words` to what comes before such a command, in a session without a terminal if `as_session` is set.
# Without PAM, which takes longer than most commands.
as_words() {
  local number variables
  variables_of "$1"
  # alice and bob have no other group than their own.
  if [[ $1 == @(alice|bob) && -x $become ]]; then
    words=("$become" ${as_session:+--session} "$number" "$number" "${as_folder:-/}" "${variables[@]}" --)
  else
    words=(setpriv --reuid="$number" --regid="$(id -g "$1")" --init-groups env -i -C "${as_folder:-/}" "${variables[@]}"
      ${as_session:+setsid --wait})
  fi
}
# variables_of USER: sets `number`, and `variables` to their environment
variables_of() {
  number_of "$1"
  variables=(HOME="/home/$1" USER="$1" LOGNAME="$1" PATH="$PATH" LANG="$LANG" TERM=dumb)
  [[ ! -d /run/user/$number ]] || variables+=(XDG_RUNTIME_DIR="/run/user/$number")
  [[ ! -S /run/user/$number/bus ]] || variables+=(DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$number/bus")
}
# number_of USER: sets `number`. Theirs are known (people.sh); each process counts under emulation.
number_of() {
  case $1 in alice) number=1000 ;; bob) number=1001 ;; *) number=$(id -u "$1") ;; esac
}
# join_session USER: moves this process to where the programs of the user's login session are
join_session() {
  local scope
  scope=$(session_scope "$1") || return 0
  echo $BASHPID >"$scope/cgroup.procs"
}
session_scope() {
  local number scopes
  number_of "$1"
  scopes=(/sys/fs/cgroup/user.slice/user-$number.slice/session-*.scope)
  [[ -d ${scopes[0]} ]] && echo "${scopes[0]}"
}
has_session() { logged_in "$1" && session_scope "$1"; }

# user_manager USER: their systemd with a session bus, as after a login, without one
user_manager() {
  systemctl start systemd-logind && loginctl enable-linger "$1" && systemctl start "user@$(id -u "$1").service" &&
    wait_for 60 test -S "/run/user/$(id -u "$1")/bus"
}

# log_in USER [TERMINAL]: an active session at seat0, which is what polkit and consent agents look for, on virtual terminal 7
# or another; log_out USER ends it
log_in() {
  local terminal=${2:-7}
  local options=(--setenv=XDG_SESSION_CLASS=user --setenv=XDG_SEAT=seat0)
  if [[ -e /sys/class/tty/tty0/active ]]; then
    # A seat with virtual terminals takes a session only on one of them, and calls it active when that is in front.
    options+=(-p TTYPath=/dev/tty$terminal -p StandardInput=tty-force -p UtmpMode=user
      -p UtmpIdentifier=tty$terminal --setenv=XDG_VTNR=$terminal --setenv=XDG_SESSION_TYPE=tty)
  fi
  systemctl start systemd-logind &&
    systemd-run --quiet --collect --unit="login-$1" --uid="$1" -p PAMName=login "${options[@]}" sleep infinity &&
    wait_for 60 has_session "$1" && loginctl activate "$(session_of "$1")"
}
# log_in_elsewhere USER: a session without a seat, as from another machine
log_in_elsewhere() {
  systemctl start systemd-logind &&
    systemd-run --quiet --collect --unit="login-$1" --uid="$1" -p PAMName=login --setenv=XDG_SESSION_CLASS=user \
      sleep infinity && wait_for 60 has_session "$1"
}
logged_in() { loginctl list-sessions --no-legend | grep -qw "$1"; }
session_of() { loginctl list-sessions --no-legend | awk -v user="$1" '$3 == user { print $1; exit }'; }
log_out() { systemctl stop "login-$1"; }

# emulated: whether the processor is one of software, which has no time for large pictures
emulated() { [[ $(systemd-detect-virt) == qemu ]]; }

# mount_state FOLDER: the disk that outlives this boot (the header's `# disk: yes` or `# boots: 2`)
mount_state() {
  mkdir -p "$1" && mount -t ext4 /dev/capture-test-disk "$1"
}

# full_disk FOLDER SIZE: a file system of that size, such as 1M, for running out of space
full_disk() { mkdir -p "$1" && mount -t tmpfs -o "size=$2,mode=1777" tmpfs "$1"; }

main_pid() { systemctl show --property=MainPID --value "$1"; }
active() { [[ $(systemctl is-active "$1") == active ]]; }
# kill_hard UNIT: SIGKILL to its main process alone; 0 would be the suite's own group
kill_hard() {
  local pid
  pid=$(main_pid "$1")
  ((pid > 0)) && kill -KILL "$pid"
}
# read_journal OPTION...: with all that was said until now; on a busy machine journald is behind
read_journal() { journalctl --sync; journalctl -b -o cat --no-pager "$@"; }
# journal_says UNIT PATTERN
journal_says() { read_journal -u "$1" | grep -qE -- "$2"; }
