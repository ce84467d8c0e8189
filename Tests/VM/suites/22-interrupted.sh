#!/bin/bash
# Programs that hold the memory of frames and samples while their service is off: nothing newer reaches them, they go on
# by themselves when it is on again, and end when their consent has gone meanwhile. 23-clocks has the same
# with drivers, and a consent that ends by the clock meanwhile.
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
# shares: people
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# A container has no nodes.
cameras=/dev/video microphones=/dev/snd/pcm
[[ $flavour != container ]] || cameras='' microphones=''

it "captured serves, alice sits at the machine" start_captured
it "she has a program" make_reader
it "and an agent" start_readers_agent
reader_is_interrupted camera "$cameras"
reader_is_interrupted microphone "$microphones"
remove_reader
finish
