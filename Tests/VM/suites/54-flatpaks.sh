#!/bin/bash
# A Flatpak as Flatpak itself makes, installs and runs it: who it is to captured, and what it gets by the bus and by PipeWire.
# Its runtime is a few of this machine's programs.
# machine: --systemd --timeout 900
# flavours: stock container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

home=/home/alice kit=/home/alice/kit id=org.capturekit.Test runtime=org.capturekit.Tiny
libraries=$(dirname "$(ldconfig -p | sed -n 's/.* => \(.*\/libpipewire-0.3\.so\.0\)$/\1/p' | head -n 1)")
has_node() { as alice env PIPEWIRE_NO_CONFIG=1 pw-dump 2>/dev/null | grep -q "\"node.name\": \"$1"; }

# tree FOLDER FILE...: the files, which lie below /usr, with the libraries that they load, in a folder in place of /usr
tree() {
  local folder=$1 file
  shift
  { printf '%s\n' "$@"; ldd "$@" | grep -o '/[^ :]* (' | cut -d' ' -f1; } | sort -u | while read -r file; do
    install -D "$(realpath "$file")" "$folder/$(realpath "$(dirname "$file")" | cut -d/ -f3-)/${file##*/}" || return 1
  done
}
# One of the client library in C.
make_lister() {
  cat >"$work/lister.c" <<'END'
#include <capture.h>
#include <stdio.h>
int main(void) {
  struct capture_client *client;
  const struct capture_device *const *devices;
  if (capture_connect(CAPTURE_BUS_DEFAULT, &client) || capture_devices(client, &devices)) return puts(capture_message());
  while (*devices) puts((*devices++)->id);
  return 0;
}
END
  # shellcheck disable=SC2046
  cc -o /usr/local/bin/lister "$work/lister.c" $(pkg-config --cflags --libs libcapture)
}
make_runtime() {
  mkdir -p $kit/runtime/{files,usr/{etc,lib64}} && mapfile -t plugins < <(
    cd "$libraries" && ls -d "$PWD"/pipewire-0.3/libpipewire-module-{protocol-native,client-node,client-device}.so \
      "$PWD"/pipewire-0.3/libpipewire-module-{adapter,metadata,session-manager,rt}.so \
      "$libraries"/spa-0.2/{support/libspa-support,audioconvert/libspa-audioconvert}.so
  )
  tree $kit/runtime/usr /usr/bin/{bash,sleep,stat,pw-record} /usr/bin/capturectl /usr/local/bin/lister "${plugins[@]}" &&
    cp -L /lib64/ld-linux-x86-64.so.2 $kit/runtime/usr/lib64/ && mkdir -p $kit/runtime/usr/share &&
    cp -R /usr/share/pipewire $kit/runtime/usr/share/ && ln -s bash $kit/runtime/usr/bin/sh &&
    printf '%s\n' '[Runtime]' name=$runtime runtime=$runtime/x86_64/1 sdk=$runtime/x86_64/1 >$kit/runtime/metadata
}
make_application() {
  mkdir -p $kit/application/{files/share/applications,export} &&
    printf '%s\n' '[Application]' name=$id runtime=$runtime/x86_64/1 sdk=$runtime/x86_64/1 command=capturectl \
      '[Context]' 'filesystems=home;xdg-run/pipewire-0;' '[System Bus Policy]' org.capturekit.Capture1=talk \
      >$kit/application/metadata &&
    printf '%s\n' '[Desktop Entry]' Type=Application Name=Tiny Exec=capturectl \
      'X-Capture-CameraUsageDescription=Shows you to a test' >$kit/application/files/share/applications/$id.desktop
}
install_both() {
  chown -R alice: $kit && for part in "--runtime $kit/repository $kit/runtime" "$kit/repository $kit/application"; do
    alone flatpak build-export $part 1 || return 1
  done
  alone flatpak --user remote-add --no-gpg-verify test $kit/repository &&
    alone flatpak --user install -y --noninteractive test app/$id/x86_64/1
}
inside() { alone timeout 120 flatpak run --command="$1" $id "${@:2}"; }
uses() { capturectl history --user alice --json | tr -d '\n' | sed 's/}/}\n/g'; echo; }
asks() { inside capturectl photo -y $home/$1.jpg >"$work/$1" 2>&1 & asking=$!; }
has_answer() { wait $asking; local status=$?; cat "$work/$1"; ((status == $2)); }

it "captured is installed, alice sits at the machine" start_captured
synthetic_devices && systemctl restart captured
it "she has a service manager and sound servers" eval 'user_manager alice && manager start pipewire wireplumber'
it "there is a program that lists devices" make_lister
it "a runtime is made" make_runtime
it "an application is made" make_application
it "Flatpak installs them" install_both

# By the bus, where Flatpak's proxy speaks for it.
it "captured knows it by Flatpak's word" says "flatpak:$id" inside capturectl auth whoami
it "and the same program outside is another" fails says "flatpak:" alone capturectl auth whoami
it "one of the client library in C is served, too" says '^synthetic:camera$' inside /usr/local/bin/lister
it "nobody is there to ask" refused 75 'nobody|no agent' inside capturectl photo -y $home/none.jpg
terminal agent capturectl agent
it "an agent answers on a terminal" shows agent 'asking for consent here'
asks allowed
it "she is asked about it in its own words, and says yes" replies agent y
it "it has a photo" eval 'has_answer allowed 0 && [[ -s $home/allowed.jpg ]]'
it "the prompt has the purpose that its desktop entry gives" shows agent 'Shows you to a test'
it "the answer is the Flatpak's" stores "alice flatpak:$id camera authorized|1000 flatpak:$id camera authorized"
it "the history has it" says "flatpak:$id" uses
it "she is not asked again" refused 0 '' inside capturectl photo -y $home/again.jpg
it "of a runtime by itself nobody can tell what it runs" refused 77 'runtime' \
  alone timeout 120 flatpak run --system-talk-name=org.capturekit.Capture1 --filesystem=home --command=capturectl \
  $runtime//1 photo -y $home/runtime.jpg
capturectl auth set --user alice flatpak:$id camera denied
it "after a no it has nothing" refused 77 'denied' inside capturectl photo -y $home/denied.jpg

# By PipeWire.
it "the bridge serves" eval 'manager start captured-pipewire && wait_for 60 has_node captured\\.'
# hears FILE CONDITION...: records until it holds
hears() {
  local status
  inside pw-record --rate 48000 --channels 2 --format s16 "$home/$1" >"$work/hears" 2>&1 &
  wait_for 60 "${@:2}"
  status=$?
  alone flatpak kill $id
  wait $!
  return $status
}
# count_sound FILE: sets `sound` to how many of its bytes are not silence
count_sound() { sound=$(tail -c +45 "$home/$1" 2>/dev/null | tr -d '\0' | wc -c); }
# The microphone beeps once a second, behind as much silence as its start takes.
has_sound() { count_sound "$1" && ((sound > 5000)); }
is_told_why() { says "flatpak:$id does not get the microphone" uses; }
capturectl auth set --user alice flatpak:$id microphone authorized
it "it hears by PipeWire" hears yes.wav has_sound yes.wav
it "the history has that, too" says "\"kind\": \"use\".*\"program\": \"flatpak:$id\".*\"service\": \"microphone\"" uses
capturectl auth set --user alice flatpak:$id microphone denied
it "after a no it is told why" hears no.wav is_told_why
it "and hears nothing" eval 'count_sound no.wav && ((sound == 0))'

# Killed by its person.
capturectl auth set --user alice flatpak:$id camera authorized
inside capturectl record --microphone none -y $home/long.mkv >"$work/long" 2>&1 &
runs() { says "flatpak:$id" capturectl sessions; }
has_recorded_some() { runs && (($(stat -c %s $home/long.mkv) > 20000)); }
it "it records" wait_for 60 has_recorded_some
it "Flatpak ends it" alone flatpak kill $id
it "and its session ends" wait_for 60 fails runs
it "the recording until then is whole" says Duration ffmpeg -hide_banner -i $home/long.mkv
finish
