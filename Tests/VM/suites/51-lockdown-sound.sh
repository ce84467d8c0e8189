#!/bin/bash
# The lockdown leaves the speakers alone: what PipeWire plays is heard through the sound loop before, during and after it.
# machine: --systemd --vivid 1 --timeout 2400 --karg snd_aloop.pcm_substreams=1 --karg snd_dummy.pcm_substreams=1
# flavours: stock fast
# boots: 2
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

disk=/var/lib/kept loop=hw:Loopback,1,0
parts=(/etc/udev/rules.d/73-captured-lockdown.rules /etc/systemd/system/captured.service.d/lockdown.conf)
hidden=/dev/captured/snd

sound_servers() { # ACTION
  as alice env XDG_RUNTIME_DIR=/run/user/1000 systemctl --user "$1" pipewire wireplumber
}
# pipewire_has CLASS: the names of its nodes of a class, as lines
pipewire_has() {
  as alice env XDG_RUNTIME_DIR=/run/user/1000 pw-dump 2>/dev/null | "$python" -c '
import json, sys
for thing in json.load(sys.stdin):
    facts = ((thing.get("info") or {}).get("props") or {})
    if facts.get("media.class") == sys.argv[1]:
        print(facts["node.name"])' "$1"
}
has_sink() { pipewire_has Audio/Sink | grep aloop; }
# Its own; those of captured's bridge have names of captured.
has_source() { pipewire_has Audio/Source | grep -v '^captured\.' | grep aloop; }
has_bridged() { pipewire_has Audio/Source | grep '^captured\.'; }
is_heard() {
  rm -f /home/alice/heard.wav
  alone capturectl record --camera none --microphone $loop --duration 1 /home/alice/heard.wav &&
    within "$(tone /home/alice/heard.wav)" 1000 10
}
# hears: a tone that PipeWire plays. The player begins before or after the recorder, which waits for it. If both open the
# loop at once, PipeWire 0.3.65 may divide by zero, and goes.
hears() {
  local attempt status=1 player
  for attempt in 1 2 3; do
    sound_servers start && wait_for 60 has_sink || return 1
    as alice env XDG_RUNTIME_DIR=/run/user/1000 pw-play --target "$(has_sink)" --volume 1 "$tone" >"$work/player" 2>&1 &
    player=$!
    wait_for 30 is_heard && status=0
    pkill -x pw-play
    wait $player 2>/dev/null
    ((status)) || return 0
    cat "$work/player"
  done
  return 1
}
records_meanwhile() {
  id=$(alone capturectl start --camera none --microphone hw:Dummy,0 meanwhile.wav) && wait_for 60 has_recorded "$id" 1 || return 1
  facts capturectl status --json "$id"
  recorded=$(value statistics.elapsed)
  recorded=${recorded%.*}
}
deleted_at_once() {
  local recorder
  alone capturectl record --camera none --microphone hw:Dummy,0 --duration 60 gone.wav >"$work/gone" 2>&1 &
  recorder=$!
  wait_for 60 rm /home/alice/gone.wav
  expect_exit 74 wait $recorder && says 'was deleted or replaced' cat "$work/gone"
}
in_sight() { ls /dev/snd | grep 'pcm.*c$'; }
is_hidden() { fails in_sight && [[ $(ls $hidden | grep -c 'pcm.*c$') == 3 ]] && fails as alice dd if=$hidden/pcmC0D0c count=0 status=none; }
# as_at_boot: udev and systemd started before these files were there. This makes them read the files, and makes udev know the
# daemon's user.
as_at_boot() {
  have_captured && systemctl daemon-reload && udevadm control --reload &&
    udevadm trigger --action=add --subsystem-match=video4linux --subsystem-match=sound && udevadm settle --timeout=60
}
no_recording() { says 'no soundcards|No such file' fails as alice timeout 20 arecord -q -D hw:Dummy,0 -d 1 -f S16_LE -r 48000 /dev/null; }
whole() { says "$1" capturectl lockdown status && says 'ok +lockdown' capturectl doctor; }
half() { says 'PROBLEM +lockdown' capturectl doctor && says 'in part|not locked down, but' capturectl lockdown status; }
mended() { capturectl doctor --mend >/dev/null; says "${1:-^locked down: }" capturectl lockdown status; }
replug_sound() { unplug_sound snd_aloop && plug_sound snd_aloop && udevadm settle --timeout=60; }

it "the disk is there" eval "mkdir -p $disk && mount /dev/capture-test-disk $disk"
# What a machine that is locked down has from its start.
((boot == 1)) || it "the lockdown's two files are there from the start" eval \
  "mkdir -p ${parts[1]%/*} && cp $disk/*.rules ${parts[0]} && cp $disk/lockdown.conf ${parts[1]} && as_at_boot"
it "captured serves, alice sits at the machine" start_captured
it "she may record" allow alice microphone
it "alice has sound servers" eval 'user_manager alice && sound_servers start'
tone=/home/alice/tone.wav
it "there is a tone" make_tone $tone 1000 300
if ((boot == 1)); then
  it "PipeWire plays before, and is heard" hears
  it "it has a microphone, too" wait_for 60 has_source
  it "a microphone records meanwhile" records_meanwhile
  it "it is locked down" refused 0 '^locked down: ' capturectl lockdown on --yes
  it "what captures sound is hidden" is_hidden
  it "what was being recorded goes on to its end" eval 'wait_for 60 has_recorded $id $((recorded + 2)) && alone capturectl stop $id &&
    wait_for 60 session_is $id stopped && playable /home/alice/meanwhile.wav'
  # Deleted as soon as it appears, before the recorder can have looked for its name.
  it "a recording whose file is deleted at once ends with 74" deleted_at_once
  it "PipeWire plays on" hears
  it "and has lost its microphone, without a restart by hand" wait_for 60 fails has_source
  it "captured offers its own in their place" wait_for 60 has_bridged
  it "nobody records past the daemon" no_recording
  it "its sinks outlive a restart of PipeWire, not its microphones" eval 'sound_servers restart && hears && fails has_source'
  it "captured's outlive it, too" wait_for 60 has_bridged
  it "a program plays without PipeWire" as alice timeout 60 aplay -q -D plughw:Dummy,0 -d 1 $tone
  it "doctor finds it whole" whole '^locked down: '
  it "the card is unplugged and plugged in again" replug_sound
  it "what captures is hidden from the start" is_hidden
  it "udev looks at everything anew" eval 'udevadm trigger --action=change && udevadm trigger --action=add && udevadm settle --timeout=120'
  it "it is hidden" is_hidden
  it "PipeWire is heard after that" hears
  it "the daemon is killed, and back" eval 'systemctl kill -s KILL captured && wait_for 60 capturectl devices'
  it "captured is installed over itself, and restarted" eval 'install_captured && systemctl restart captured'
  it "PipeWire is heard by that one" hears

  # What others leave undone.
  rm "${parts[1]}"
  it "without the daemon's setting it is half on" half
  it "doctor mends it" mended
  ln $hidden/pcmC0D0c /dev/snd/
  it "with a node in sight it is half on" half
  it "doctor hides it" mended
  echo >>"${parts[0]}"
  echo "# older" >>"${parts[0]}"
  it "with another version's rule it is half on" half
  it "doctor puts the new one there" mended
  rm "${parts[0]}"
  it "without the rule it is half off" half
  it "doctor takes the rest away" mended '^not locked down: '
  it "it is locked down again" refused 0 '^locked down: ' capturectl lockdown on --yes
  it "its two files outlive the boot" eval "cp ${parts[*]} $disk && sync -f $disk"
  finish
fi

it "what captures sound is hidden" is_hidden
it "doctor finds it whole" whole '^locked down: '
it "PipeWire plays, and is heard" eval 'sound_servers restart && hears'
it "it has no microphone" fails has_source
it "it is taken back" refused 0 '^not locked down: ' capturectl lockdown off
it "nothing is hidden" eval "in_sight && [[ -z \$(ls $hidden) ]]"
it "PipeWire plays on" hears
it "it has its microphone again" wait_for 60 has_source
it "alice records past the daemon" as alice timeout 60 arecord -q -D hw:Dummy,0 -d 1 -f S16_LE -r 48000 /dev/null
card=$(readlink /proc/asound/Loopback)
nodes=/dev/snd/pcmC${card#card}D
it "the sound loop captures by two nodes" test "$(ls $nodes?c | wc -l)" = 2
unplug_sound snd_aloop
it "the nodes are the kernel's: they go with their card" wait_for 30 fails ls $nodes*
it "and come back with it" eval 'plug_sound snd_aloop && udevadm settle --timeout=60 && hears'
finish
