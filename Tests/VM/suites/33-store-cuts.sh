#!/bin/bash
# A power cut while answers are written, and while the media library is added to, edited and deleted from: what was
# acknowledged is there, with the library's contents, and what was never asked for is not. 65-store and 75-library-store
# replay the writes of a disk to many points, in a container, too.
# machine: --systemd --vivid 1 --timeout 900
# flavours: stock fast
# boots: 2
# cuts: 1
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# Cut off after some of both, at no certain moment of the next.
begin_cut() {
  write_answers 200 2>"$work/writer" &
  go_on 100 2>"$work/adder" &
  it "answers are given" wait_for 240 has_acknowledged $answers_done $((3 + RANDOM % 3))
  it "the library is changed" wait_for 600 has_acknowledged $library_done $((1 + RANDOM % 3))
  in_the_next
  power_cut
}

it "what is stored lies on a disk" mount_state $state
it "captured serves" start_captured
it "alice's command may use the library" keeps_a_day
if ((boot == 1)); then
  new_accounts
  it "and her microphone" allow alice microphone
  begin_cut
fi
it "it records without asking" expect_exit 0 alone capturectl record --camera none --duration 1 after.wav
it "a file that is playable" playable /home/alice/after.wav
before=${CAPTURE_TEST_INSTALLED%/*}/33-store-cuts/boot1
cp "$before"/{answers,library}{,.done} /out
it "the $(<$answers_done) answers that were acknowledged before the power cut are there, and no other" answers_hold
it "what the $(<$library_done) requests that were acknowledged before the power cut came to is there, and no other" \
  library_holds
# The clock, which a container may not set, empties the bin at the end of a round.
it "requests go on until the bin was emptied" go_on $((8 - $(<$library_done)))
it "what they came to is there, and no other" library_holds
finish
