#!/bin/bash
# The Debian packages on a running system: installed, recorded with, upgraded idle and busy, removed, and purged.
# machine: --systemd --vivid 1 --timeout 1200
# flavours: stock fast container
# packages: yes
# installed: no
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

built=$checkout/.build/deb
packages=(captured capturectl captured-picker libcapture0 libcapture-dev captured-alsa captured-v4l2 captured-pipewire
  python3-capturekit libcapturekit-dev)
picture=(--microphone none --video-format "$(small 5)" --video-codec mjpeg)
export DEBIAN_FRONTEND=noninteractive

# install FOLDER [PACKAGE...]: all of them, or these; what dpkg says stays in `said`
install() {
  local folder=$1 files=() package
  shift
  for package in "${@:-*}"; do files+=("$folder"/${package}_*.deb); done
  dpkg --force-downgrade -i "${files[@]}" >"$work/said" 2>&1 && return
  cat "$work/said"
  return 1
}
said() { grep -qE -- "$1" "$work/said" || { cat "$work/said"; return 1; }; }
all_installed() { # VERSION
  dpkg-query -W -f='${db:Status-Status} ${Version}\n' "${packages[@]}" | sort -u >"$work/versions"
  [[ $(<"$work/versions") == "installed $1" ]] || { cat "$work/versions"; return 1; }
}
enabled() { systemctl is-enabled captured.service captured-recorder.socket && systemctl --global is-enabled captured-agent.service; }
groups_are() { [[ $(id -Gn captured | tr ' ' '\n' | sort | tr '\n' ' ') == "$1 " ]] || { id captured; return 1; }; }
# begin FILE: a session that nobody attends, in `session`
begin() {
  session=$(capturectl start "${picture[@]}" "$1") && wait_for 60 has_frames "$session" 5
}
# files: what the packages have put where, without folders
files() {
  local file
  dpkg -L "${packages[@]}" | sort -u | while read -r file; do [[ -d $file ]] || echo "$file"; done
}
# left FOLDER...: what has a name of captured's there
left() { find "$@" -xdev \( -name '*captured*' -o -name '*capturectl*' -o -name 'org.capturekit*' \) ! -path '*/dpkg/*' \
  ! -path '/run/udev/*'; }
# left_beside: the same in every folder that the packages put something into, and in those above it
left_beside() {
  local file folder folders=()
  local -A places=()
  while read -r file; do
    while file=${file%/*} && [[ -n $file ]]; do places[$file]=1; done
  done <"$work/files"
  for folder in "${!places[@]}"; do [[ ! -d $folder ]] || folders+=("$folder"); done
  left "${folders[@]}" -maxdepth 1
}
# An emulated processor needs minutes to look through all of /usr.
left_anywhere() {
  left /etc /run /var || return
  if emulated; then left_beside; else left /usr/bin /usr/lib /usr/libexec /usr/share; fi
}
left_before() {
  left /etc /var || return
  if emulated; then left /usr/share -maxdepth 2; else left /usr/share; fi
}

first() {
  it "the packages install" install "$built"
  it "all four are configured" all_installed "$version"
  it "dpkg finds nothing to complain of" quiet dpkg --audit
  it "every file is as it was packed" quiet dpkg --verify "${packages[@]}"
  it "the daemon runs" active captured
  it "so does the recorders' socket" active captured-recorder.socket
  it "they start at each boot, and the agent with each desktop" enabled
  it "the daemon has a user in the groups of the devices" groups_are "audio captured video"
  it "its answers are its own" says '^700 captured captured$' stat -c '%a %U %G' /var/lib/captured
  it "there are folders for reasons and for rules" test -d /etc/captured/apps.d -a -d /etc/captured/policy.d
  it "the programs say their version" says "^${version%%[~+]*}\$" capturectl --version
  it "the manual pages are found" says 'captured.8' man -w captured
  it "no library is missing" fails grep 'not found' <(ldd /usr/bin/capturectl /usr/libexec/captured{,-recorder,-door,-picker})
  it "what the recorder loads late is among the dependencies" says libavformat dpkg-query -W -f '${Depends}' captured
  it "the documentation is there" test -f /usr/share/doc/captured/README.md -a -f /usr/share/doc/captured/LICENSE
  it "CaptureKit's sources are there" test -f /usr/share/captured/CaptureKit/Package.swift
}

asked() {
  if [[ $flavour == container ]]; then synthetic_devices && systemctl restart captured; fi
  mkdir -p /home/alice && chown alice:alice /home/alice && as_folder=/home/alice
  it "alice is logged in" log_in alice
  terminal film capturectl record "${picture[@]}" --duration 1 film.mkv
  it "her first recording asks, and she says yes" replies film y
  it "it records" ends film 0
  it "the file plays" playable /home/alice/film.mkv
  it "her answer is stored" stores 'alice exe:/usr/bin/capturectl camera authorized'
}

upgraded() {
  local before
  before=$(main_pid captured)
  configure local '[History]\nKeepFor=30d'
  it "nothing is captured: the packages are upgraded" install "$built/newer"
  it "all four are of the new version" all_installed "$version+newer"
  it "the daemon runs" active captured
  it "it was started anew" fails test "$(main_pid captured)" = "$before"
  it "her answer is kept" stores 'alice exe:/usr/bin/capturectl camera authorized'
  it "she records without a question" alone capturectl record "${picture[@]}" --duration 1 again.mkv
  it "the configuration is kept" grep -q KeepFor=30d /etc/captured/captured.conf.d/local.conf
}

locked_down() {
  [[ $flavour != container ]] || start_udev
  it "the machine is locked down" capturectl lockdown on --yes
  it "every program has the V4L2 library" eval 'quiet /bin/true && grep -q libcaptured-v4l2.so < <(cat /proc/self/maps)'
  it "ALSA's default is captured's" says 'ALSA on' capturectl lockdown status
  it "the daemon is not removed then, and it is said why" says 'first, as root: capturectl lockdown off' \
    fails dpkg --remove captured
  it "it still runs" active captured
  it "it is installed as before" all_installed "$version+newer"
}

upgraded_busy() {
  local before
  before=$(main_pid captured)
  for service in camera microphone; do capturectl auth set "$(myself)" "$service" authorized; done
  it "a session runs" begin "$work/busy.mkv"
  it "the packages are upgraded meanwhile" install "$built"
  it "which says that the daemon goes on as it is, and what to do later" said "when that has ended: systemctl restart captured"
  it "the lockdown stays" says 'locked down: only the daemon' capturectl lockdown status
  it "the daemon is the same" test "$(main_pid captured)" = "$before"
  it "the session goes on" session_is "$session" running
  it "it is stopped" capturectl stop "$session"
  it "its file plays" playable "$work/busy.mkv"
  it "the new daemon starts when it is told to" systemctl restart captured
  it "with the same answers" stores 'alice exe:/usr/bin/capturectl camera authorized'
  it "every program has the new V4L2 library" quiet /bin/true
  it "the lockdown ends" capturectl lockdown off
  it "and what it turned on" eval '[[ ! -e /etc/ld.so.preload ]] && fails compgen -G "/etc/alsa/conf.d/99-zz-captured*"'
}

removed() {
  files >"$work/files"
  it "the packages have files" test "$(wc -l <"$work/files")" -gt 200
  it "a session runs" begin "$work/last.mkv"
  printf '%s\n' /usr/lib/*-linux-*/captured/libcaptured-v4l2.so /usr/lib/*-linux-*/libm.so.6 >/etc/ld.so.preload
  it "the V4L2 library is in every program, by an administrator's line" grep -q libcaptured-v4l2.so < <(cat /proc/self/maps)
  it "the packages are removed" dpkg --remove "${packages[@]}"
  it "the session's file was finished" playable "$work/last.mkv"
  it "no program misses the library, and the others' lines are kept" eval 'quiet /bin/true && grep -q libm /etc/ld.so.preload'
  rm -f /etc/ld.so.preload
  it "no file is left" no_file
  it "no service is left" fails pgrep -l '^captured'
  it "nor what it kept in /run" quiet left /run
  it "no program starts it again" fails busctl --timeout 30 introspect org.capturekit.Capture1 /org/capturekit/Capture1
  it "answers and configuration stay" test -s /var/lib/captured/authorization.sqlite -a -s /etc/captured/captured.conf.d/local.conf
}
no_file() {
  local file bad=0
  while read -r file; do [[ ! -e $file ]] || { echo "$file"; bad=1; }; done <"$work/files"
  return $bad
}

back() {
  it "the daemon and its command are installed again" install "$built" captured capturectl
  it "the daemon runs" active captured
  it "it starts at each boot" enabled
  it "with the same answers" stores 'alice exe:/usr/bin/capturectl camera authorized'
}

purged() {
  it "the packages are purged" dpkg --purge "${packages[@]}"
  it "answers, history and media library are gone" fails test -e /var/lib/captured
  it "so is the configuration" fails test -e /etc/captured
  it "so is the daemon's user" fails id captured
  it "dpkg knows none of them" fails dpkg-query -W -f='${db:Status-Abbrev}\n' "${packages[@]}"
  it "no file has a name of theirs" quiet left_anywhere
}

# Containers forbid packages to start services, and the machine's root is a copy of one's.
rm -f /usr/sbin/policy-rc.d
# Its index of manual pages is not what is looked at.
rm -f /var/lib/man-db/auto-update
it "the packages were built" compgen -G "$built/captured_*.deb"
version=$(dpkg-deb -f "$built"/captured_*.deb Version)
it "nothing of captured is there before" quiet left_before
first
asked
upgraded
locked_down
upgraded_busy
removed
back
purged
finish
