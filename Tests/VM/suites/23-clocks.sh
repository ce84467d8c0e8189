#!/bin/bash
# Clocks that are set while a yes lasts, and a yes that ends while the program that has it holds the memory of samples.
# And the memory that a camera's driver writes by itself, which a program holds while cameras are switched off.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast
# shares: attacks
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# A yes that ends while nothing is captured by it.
ends_meanwhile() {
  local id returned
  capturectl auth set --user alice --until 1h $reader_program microphone authorized
  it "with a yes for an hour a program holds the memory of a session" reader_holds microphone
  it "the microphone is switched off" by alone capturectl switch microphone off
  it "nothing newer than that reaches the program" nothing_newer
  it "no node of it is open" no_node /dev/snd/pcm
  it "the hour is over meanwhile" date -s '+2 hours'
  it "the microphone is switched on" capturectl switch microphone on
  it "the session does not go on, but is over" reader_says '^over: failed: '
  it "it is told why" reader_says '^over: failed: .*(has ended|its end date has passed)'
  it "it never ran again" reader_said 0 '^runs again'
  it "nobody was asked" fails grep -q asked "$work/there.out"
  it "no node of it is open" no_node /dev/snd
  it "the journal tells of its end" \
    wait_for 90 says "microphone of $reader_program ended: .*its end date has passed" journal captured
  it "nothing is stored any more" stores_nothing
  it "the next start asks, and goes without where nobody answers" \
    says '^start ended failed: ' as alice $reader session microphone plain
  it "a person was asked then" there_says "^asked .* $reader_program"
}

# The clock around the end of a yes.
clock() {
  local id
  yes_until 40s
  it "a yes for forty seconds records" records_clock
  date -s '-1 hour' >/dev/null
  it "an hour is set back: it ends in time all the same" wait_for 90 session_is "$id" failed
  it "the journal tells of its end" wait_for 60 says 'its end date has passed' journal captured
  it "nothing starts on it again in the past" refused 75 'nobody to ask' alone capturectl start --camera none past.wav
  yes_until 1h
  it "a yes for an hour records" records_clock
  date -s '+2 hours' >/dev/null
  it "two hours are set forward: it ends at once" wait_for 60 session_is "$id" failed
  date -s '-1 hour' >/dev/null
  it "nor when the clock is right" refused 75 'nobody to ask' alone capturectl start --camera none right.wav
  forget
}
yes_until() { capturectl auth set --user alice --until "$1" $capturectl_program microphone authorized; }
records_clock() {
  rm -f /home/alice/clock.wav
  id=$(as_folder=/home/alice alone capturectl start --camera none clock.wav) && wait_for 60 session_is "$id" running
}
of_driver() {
  says 'is set to .* sample frames before an overrun' \
    journalctl -b -o cat --no-pager CAPTURE_ROOM=captured.devices
}

unit_setting captured.service Environment=CAPTURE_LOG=debug
# Others may have started it.
systemctl stop captured 2>/dev/null
it "captured serves, alice sits at the machine" start_captured
clock
it "the log has what the microphone's driver gave" of_driver
unit_default captured.service
it "she has a program" make_reader
it "and an agent" start_readers_agent
reader_is_interrupted camera /dev/video
ends_meanwhile
remove_reader
finish
