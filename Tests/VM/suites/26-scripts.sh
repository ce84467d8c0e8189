#!/bin/bash
# Programs from a person's home ask, by reasons of their own: a script by its request, others by files in the home. So do
# programs that were not written for captured, without a reason.
# machine: --systemd --vivid 1 --timeout 1200
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

script=/home/alice/record.py
program=exe:$script
tool=/home/alice/tool
settings=/home/alice/.config/captured/apps.d

# run COMMAND...: as alice, without a terminal
run() { alone env XDG_RUNTIME_DIR=/run/user/1000 "$@"; }
# asking NAME KEYS COMMAND...: alice's agent is asked meanwhile and answers so; the command's end is this one's
asking() {
  local name=$1 keys=$2 status=0 asked
  shift 2
  asked=$(questions)
  run "$@" >"$work/said" 2>&1 </dev/null &
  wait_for 60 more_than "$asked" && replies agent "$keys" || { cat "$work/said"; return 1; }
  wait $! || status=$?
  [[ $status == 0 ]] || { cat "$work/said"; return 1; }
}
questions() { grep -c ' wants to ' "$work/agent.screen"; }
more_than() { (($(questions) > $1)); }
# unasked COMMAND...: nobody is asked meanwhile
unasked() {
  local asked
  asked=$(questions)
  run "$@" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
  [[ $(questions) == "$asked" ]]
}
files() {
  install -o alice -m 755 "$checkout/examples/record.py" "$script" &&
    install -o alice -m 755 "$checkout/.build/attacks/answers/evil" $tool &&
    install -o alice -m 755 "$checkout/.build/attacks/answers/evil" /home/alice/bell
}
kept() { # PROGRAM SERVICE WORDS: it is stored that it said so
  capturectl auth list --json | "$python" -c '
import json, sys
rows = [row for row in json.load(sys.stdin) if (row["program"], row["service"]) == tuple(sys.argv[1:3])]
sys.exit([row.get("usage") for row in rows] != sys.argv[3:])' "$@"
}
write() { # FILE LINE...: of alice, in her home
  local file=$1
  shift
  as alice mkdir -p "${file%/*}" && printf '%s\n' "$@" | as alice tee "$file" >/dev/null
}
missing() { refused 75 'MissingUsageDescription.*~/.config/captured/apps.d/home-alice-tool.desktop' run $tool request "$@"; }
scopes_of() { as alice env XDG_RUNTIME_DIR=/run/user/1000 systemctl --user list-units --all --plain --no-legend 'captured-run-*'; }

it "captured is installed, alice sits at the machine" start_captured
it "alice has a service manager" user_manager alice
it "a script and a program lie in her home" files
terminal agent capturectl agent
it "an agent asks her" shows agent 'asking for consent'

it "the script by itself is nobody" says 'capturectl run' fails run $script film.mkv
it "capturectl run has it ask, and it records after a yes" asking agent y capturectl run $script /home/alice/film.mkv
it "the question names the script" shows agent '“record.py” wants to use the camera'
it "and has its words" shows agent 'Records two seconds into a file of yours'
it "the film plays" playable /home/alice/film.mkv
it "the words are kept with the answer" kept $program camera 'Records two seconds into a file of yours'
it "the next time nobody is asked" unasked capturectl run $script /home/alice/film.mkv
it "what it says then changes nothing" eval "sed -i 's/Records two/Records 2/' $script && kept $program camera 'Records two seconds into a file of yours'"
it "the changed script is asked about again" asking agent y capturectl run $script /home/alice/film.mkv
it "with its new words" kept $program camera 'Records 2 seconds into a file of yours'
it "its arguments are its own" refused 74 'No such file or directory' run capturectl run $script --help/film.mkv
it "no scope of it is left" eval '[[ -z $(scopes_of) ]]'
it "another script is another program" asking agent n bash -c "cp $script /home/alice/other.py && ! capturectl run /home/alice/other.py /home/alice/film.mkv"
it "a no is a no" stores 'alice exe:/home/alice/other.py camera denied'
it "an interpreter is nobody" refused 64 'give the script that it is to run: capturectl run /home/alice/other.py' \
  run capturectl run /usr/bin/python3 /home/alice/other.py /home/alice/film.mkv
it "nor is it in a scope that somebody else made for it" refused 77 'runs programs of others' run systemd-run --user --scope \
  --quiet --unit="captured-run-0.0.0.1-usr-bin-$(basename "$(readlink -f /usr/bin/python3)").scope" \
  capturectl auth whoami
mkdir /srv/tools && chmod 777 /srv/tools && cp $script /srv/tools/shared.py
it "a script that others could replace is refused" refused 77 'other users can change /srv/tools' \
  run capturectl run /srv/tools/shared.py /home/alice/film.mkv
it "a script that is no file is 66" refused 66 'there is no script' run capturectl run /home/alice/none
it "one that is not executable is told how" refused 65 'chmod \+x' run capturectl run /home/alice/film.mkv

it "a program without a reason is told where to write it" missing microphone
it "a desktop entry in her home" write /home/alice/.local/share/applications/tool.desktop '[Desktop Entry]' Name=Tool \
  Exec=$tool X-Capture-MicrophoneUsageDescription='Tunes a guitar'
it "speaks for it" asking agent y $tool request microphone
it "and is kept with the answer" kept exe:$tool microphone 'Tunes a guitar'
it "a file of captured's in her home" write $settings/home-alice-tool.desktop '[Desktop Entry]' \
  X-Capture-CameraUsageDescription='Watches a string'
it "speaks for another service of it" asking agent y $tool request camera
it "and is kept, too" kept exe:$tool camera 'Watches a string'
it "a unit of her manager's" write /home/alice/.config/systemd/user/bell.service '[Service]' Type=oneshot \
  "ExecStart=/home/alice/bell request microphone" '[X-Capture]' MicrophoneUsageDescription='Hears the bell'
it "speaks for what runs in it" asking agent y bash -c 'systemctl --user daemon-reload && systemctl --user start bell'
it "and is kept" kept exe:/home/alice/bell microphone 'Hears the bell'
forget

# As they are: arecord, whose file is aplay, by the ALSA plugin, ffmpeg by the library that capture-run puts into it.
sound=(env ALSA_PLUGIN_DIR=/usr/lib/alsa-lib arecord -q -D captured -f S16_LE -r 48000 -c 2 -d 1 /home/alice/known.wav)
node=/dev/video90
[[ $flavour == container ]] || node=$(camera 1)
stream=(env CAPTURE_V4L2_DEVICES=/dev/video90=synthetic:camera capture-run ffmpeg -v error -nostdin -f v4l2 -i "$node" -frames:v 5
  -f rawvideo -y /home/alice/frames.yuv)
it "arecord has her asked, and records after a yes" asking agent y "${sound[@]}"
it "the question names it" shows agent '“aplay” wants to use the microphone'
it "and says that it gives no reason" shows agent 'It gives no reason'
it "and how it came" shows agent 'It was not written for captured, and comes through ALSA'
it "there is a second of sound" within "$(duration /home/alice/known.wav)" 1 0.05
it "nobody is asked again" unasked "${sound[@]}"
it "the answer is its own" stores 'alice exe:/usr/bin/aplay microphone authorized'
it "the history names it" says 'exe:/usr/bin/aplay +claimed +microphone +stopped' capturectl history
it "ffmpeg has her asked, and streams after a yes" asking agent y "${stream[@]}"
it "the question says how that came" shows agent 'comes through V4L2'
it "there are frames" test -s /home/alice/frames.yuv
it "a no to it" capturectl auth set --user alice exe:/usr/bin/ffmpeg camera denied
it "is a refusal that says what to do" says 'capturectl auth reset' fails run "${stream[@]}"
forget

it "a file that everybody can write to counts for nothing" eval \
  "chmod 666 $settings/home-alice-tool.desktop && missing camera"
types agent '\x03'
it "without an agent a program is told that reasons are missing" missing camera
finish
