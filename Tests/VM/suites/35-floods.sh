#!/bin/bash
# Programs of one user's flood the daemon: it answers everybody else, stays small, and comes back however often it is killed.
# machine: --systemd --vivid 2 --timeout 2400
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

# How long each flood lasts, the megabytes of a large call, and the seconds that an answer may take beside what the bus takes:
# the fast kernel has one processor for all that goes on, and counts time in ticks. And how many connections alice has, and
# each of the others, and how often the daemon is killed.
long=40 megabytes=8 patience=1 crowd=250 others=50
[[ $flavour != fast ]] || long=20 megabytes=1 patience=10 crowd=50
# An emulated processor works for minutes on what comes in twenty seconds, and for half a second on each connection.
kills=10
! emulated || long=20 crowd=20 others=5 kills=5
# How long the floods of four users last.
many=$long
! emulated || many=5
# The interpreter by another name is a program of its own; by its own it is nobody, and refused.
program() { install -D -m 755 "$(readlink -f "$python")" /usr/local/lib/flood/flood; }
# flood USER WORDS...
flood() {
  local as_folder=/
  as "$1" env PYTHONHOME=/usr PYTHONDONTWRITEBYTECODE=1 /usr/local/lib/flood/flood -S "$vm/lib/guest/flood.py" "${@:2}"
}
probe() { flood "$1" probe "$2" $patience; } # USER SECONDS
polkit_waits() { systemctl start polkit && kill -STOP "$(main_pid polkit)"; }

it "captured is installed, alice sits at the machine" start_captured
it "bob is there, too, from elsewhere" log_in_elsewhere bob
it "there is a program that floods" program
it "polkit answers nobody, as while a person has its dialog before them" polkit_waits
it "both are answered" eval 'probe alice 3 && probe bob 3'
it "the daemon's size is known" forget_peak
before=$(main_pid captured)

# Three connections of alice's, each in a way of its own.
: >"$work/floods"
for kind in behind large small; do flood alice $kind $long $megabytes >>"$work/floods" 2>&1 & done
probe root $long >"$work/root" 2>&1 &
asking=$!
it "alice floods, and each call of bob's is answered in time" probe bob $long
sed 's/^/# bob: /' "$work/output"
answered() { wait $asking; local status=$?; cat "$work/root"; return $status; }
it "and each of root's" answered
sed 's/^/# root: /' "$work/output"
flooded() { [[ $(wc -l <"$work/floods") == 3 ]] || { cat "$work/floods"; return 1; }; }
it "the floods ended by themselves" wait_for 120 flooded
sed 's/^/# alice: /' "$work/floods"
it "one user's floods take 32 MB at most" grew_at_most 32
sed 's/^/# memory: /' "$work/output"
it "it is the same daemon" eval '[[ $(main_pid captured) == $before && $(restarts) == 0 ]]'
it "alice is answered again" wait_for 60 probe alice 3

# All at once: she once more, and three others.
: >"$work/floods"
forget_peak
for user in alice bob daemon games; do
  for kind in behind large small; do
    flood $user $kind $many $megabytes >>"$work/floods" 2>&1 &
  done
done
# Twelve floods keep a machine of few processors busy whatever the daemon does: none is refused, however long it takes.
it "four users flood, and each call of root's is answered" flood root probe $many 60
sed 's/^/# root: /' "$work/output"
all_flooded() { [[ $(wc -l <"$work/floods") == 12 ]] || { cat "$work/floods"; return 1; }; }
it "these floods ended, too" wait_for 180 all_flooded
it "all of them take 128 MB at most" grew_at_most 128
sed 's/^/# memory: /' "$work/output"
it "it is the same daemon still" eval '[[ $(main_pid captured) == $before && $(restarts) == 0 ]]'

# Hundreds of connections that listen and never read.
crowd() { # USER COUNT
  flood "$1" crowd $2 >"$work/crowd.$1" 2>&1 &
  wait_for 300 test -s "$work/crowd.$1" && says "^$2 connections: .None: $2.\$" cat "$work/crowd.$1"
}
forget_peak
it "alice has $crowd connections that are told of everything" crowd alice $crowd
for user in bob daemon games; do it "$user has $others of them" crowd $user $others; done
it "root is answered in time beside them" probe root 5
turned() { for word in off on off on; do capturectl switch camera $word || return 1; done; }
it "what all of them are told of is done" turned
it "they take 128 MB at most" grew_at_most 128
sed 's/^/# memory: /' "$work/output"
it "they leave" eval 'pkill -KILL -x flood && wait_for 120 probe bob 3'

# Killed many times, each time as soon as there is another.
kill_again() {
  local pid last=$before count
  for ((count = 0; count < kills; count += 1)); do
    wait_for 60 another "$last" || return 1
    kill -KILL "$pid" || return 1
    last=$pid
  done
}
another() { pid=$(main_pid captured) && ((pid > 0 && pid != $1)); }
before=0
it "the daemon is killed $kills times" kill_again
it "it is up without help" wait_for 60 active captured
it "and answers" wait_for 60 probe bob 3
it "systemd gave it up never" fails journal_says captured 'Start request repeated too quickly'
kill -CONT "$(main_pid polkit)"
finish
