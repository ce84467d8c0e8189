#!/bin/bash
# Attacks on every way to pictures and sound: of a session that is another's, of one whose consent is withdrawn, of connections
# that are disabled; and on a camera's settings. Memory that stays mapped is in 61-attacks-answers (grants).
# machine: --systemd --vivid 1 --timeout 2400
# flavours: stock fast container
# shares: attacks
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

own=/home/alice/attacks
# What session.c can do with a session: 21 calls.
ways=(start open words add picture configure photo raw size pause resume mark enable gain levels begin note cut segment)
camera=(--camera "$(camera 1)" --video-format "$(small 5)")
# A microphone that hears a tone, and a setting of the camera's with its usual value: the picture is dark when it is 1.
microphone=hw:Loopback,1 rate=5 setting=brightness usual=128
[[ $flavour != container ]] || microphone=synthetic:microphone rate=15 setting=gain usual=16
# Another encoder of sound would take a second to begin a file on an emulated machine.
movie=("${camera[@]}" --video-codec mjpeg --microphone "$microphone" --audio-codec flac)

# tries USER WHAT...: a program of that user tries all of it on both sessions
tries() {
  local id as_folder=/home/$1 as_session=1
  for id in "$parts" "$waits"; do expect_exit 77 as "$1" "/home/$1/attacks/session" "$id" "${@:2}" || return 1; done
  return 77
}
# each COUNT WORDS PROGRAM: the attack made so many calls; each of them was told that, and is in the journal
each() {
  local call
  [[ $(grep -cE "^[A-Za-z]+: .*$2" "$work/told") == "$1" && $(wc -l <"$work/told") == "$1" ]] || { cat "$work/told"; return 1; }
  for call in $(sed 's/:.*//; s/^Program$/Get/' "$work/told" | sort -u); do
    grep -q "^$call was refused to $3 of" "$work/shown" || wait_for 20 journal_shows "^$call was refused to $3 of" || return 1
  done
}
# spawn NAME COMMAND...: as alice, in the background; what it prints is in NAME.out. ended NAME STATUS
declare -A spawned
spawn() {
  alone "${@:2}" >"$work/$1.out" 2>"$work/$1.err" &
  spawned[$1]=$!
}
ended() {
  local status=0
  wait_for 90 fails kill -0 "${spawned[$1]}" && wait "${spawned[$1]}" || status=$?
  [[ $status == "$2" ]] || { echo "status $status, not $2"; cat "$work/$1.out" "$work/$1.err"; return 1; }
}
# uses ID COUNT: so many uses of a session last, as status shows; revoked ID: the history has two, which ended by that
uses() { local shown; shown=$(capturectl status) && [[ $(grep -cE " $1 +[0-9:]+ +now\$" <<<"$shown") == "$2" ]] || { echo "$shown"; return 1; }; }
revoked() { [[ $(capturectl history --json | tr -d ' \n' | grep -oE "\"outcome\":\"revoked\"[^{}]*\"session\":\"?$1\b" | wc -l) == 2 ]]; }
# fact ID NAME: of a session's statistics
fact() { facts capturectl status --json "$1" && value "statistics.$2"; }
parts() { ls /home/alice | grep -c '^parts-.*\.mkv$'; }
empty() { [[ -e $1 && ! -s $1 ]]; }
allow_program() { for service in camera microphone; do capturectl auth set --user alice "exe:$own/$1" $service authorized; done; }

it "captured is installed, alice sits at the machine" start_captured
it "the attacks are there" arm alice bob
it "bob is there, too, from elsewhere" eval 'logged_in bob || log_in_elsewhere bob'
it "her capturectl may have camera and microphone" eval 'forget && allow alice camera microphone'
# Where no driver tells, it is the daemon that is asked how the setting is.
[[ $flavour != container ]] || capturectl auth set "$(myself)" camera authorized
it "the camera is as it was made" vivid_reset "$(camera 1)" 0 320x180 YUYV 5
[[ $flavour == container ]] || play_tone 1000 600

# Four ways at a time: a movie in segments, one that waits, a preview, and changes of settings.
spawn parts capturectl record --json --segment 2s "${movie[@]}" parts.mkv
it "a movie in segments is recorded" wait_for 90 test -e /home/alice/parts-0002.mkv
parts=$(newest_session)
waits=$(alone capturectl start --pre-roll 10s "${movie[@]}" waits.mkv)
it "a movie waits with a pre-roll" wait_for 60 has_recorded "$waits" 2
it "that is a use of camera and microphone" uses "$waits" 2
it "its recorder keeps it in memory" eval '[[ $(fact $waits outputs.movie.isWaiting) == true ]] && empty /home/alice/waits.mkv && pgrep -f libexec/captured-recorder'
terminal seen env TERM=xterm capturectl preview --in terminal --pictures blocks "${camera[@]}"
it "a preview shows the camera" shows seen '▀'
spawn watching capturectl control --watch "${camera[@]:0:2}"

attack session-of-another-program "another program of hers has the session in each way that there is" \
  77 'CapturePhoto: .*NotPermitted' "CapturePhoto was refused to exe:$own/session" tries alice "${ways[@]}"
it "each is refused for that" each 42 'NotPermitted: only the program that made session' exe:$own/session
tells_no_levels() {
  alone busctl -j call org.capturekit.Capture1 "/org/capturekit/Capture1/sessions/$parts" org.capturekit.Capture1.Session \
    GetStatistics | tr -d ' \n' >"$work/counters" && grep -q '"published"' "$work/counters" &&
    ! grep -oE '"(levels":\{"type":"a\(dd\)","data":\[\[|peak":\{"type":"x","data":[1-9])[-0-9.e+,]*' "$work/counters"
}
it "its counters tell a program without consent nothing of how loud it is" tells_no_levels
attack session-of-another-user "another user has it in each way, reads, counts and stops it" \
  77 'Stop: .*NoSuchSession' 'Stop was refused to exe:/home/bob/attacks/session' tries bob read count "${ways[@]}" stop
it "each is refused for that" each 48 'NoSuchSession: there is no session' exe:/home/bob/attacks/session
it "nothing came into the files that they gave" eval 'empty /home/alice/stolen && empty /home/bob/stolen'

it "her consent for the camera is withdrawn" refuse alice camera
it "the movie that waited is over" session_is "$waits" failed
it "its recorder is gone, and its file empty" eval 'wait_for 60 fails pgrep -f libexec/captured-recorder && empty /home/alice/waits.mkv'
it "it is no use any more" uses "$waits" 0
it "the history has why" revoked "$waits"
it "it cannot begin" refused 77 "the consent for the camera was withdrawn" alone capturectl begin "$waits"
it "nor is a photo taken of it" refused 77 'the consent for the camera was withdrawn' \
  alone capturectl photo --session "$waits" --burst 1 late.jpg
it "the movie in segments is over" ended parts 77
# Its program names each file when the movie goes on in it, and may be behind.
made=$(parts)
it "it is told why" grep -q 'the consent for the camera was withdrawn' "$work/parts.err"
whole() {
  local file
  [[ $(parts) == "$made" && $(grep -c '"file": "parts-' "$work/parts.out") == "$made" ]] || { ls /home/alice; cat "$work/parts.out"; return 1; }
  for file in /home/alice/parts-*.mkv; do plays "$file" || return 1; done
}
it "its files stay and play, and there is no other" whole
it "the preview is over" ends seen 77
leaves_none() { local left; left=$(<"$work/seen.screen") && left=${left##*$'\e[?1049l'} && [[ $left == *withdrawn* && $left != *▀* ]]; }
it "it leaves no picture" leaves_none
it "no change of a setting is told any more" ended watching 77

it "a program of hers may have camera and microphone" allow_program session
spawn lost $own/session own own.mkv "${small_size#*x}" "$rate" "$microphone" "${ways[@]}"
it "a connection that it disabled gives it no ring" \
  wait_for 90 grep -q "OpenBuffer: .*WrongState: the connection from 'camera' to 'frames' is disabled" "$work/lost.out"
it "its own session runs, with levels" wait_for 90 grep -q 'levels come' "$work/lost.out"
id=$(sed -n 's/^running //p' "$work/lost.out")
it "a photo of it is taken" wait_for 60 test -s /home/alice/own.mkv.jpg
it "its movie waits" wait_for 60 has_recorded "$id" 1
it "its consent for the microphone is withdrawn" capturectl auth set --user alice exe:$own/session microphone denied
it "each way is refused to it, and no level comes" ended lost 77
sed -n '/^[A-Za-z]*: /p' "$work/lost.out" | tee "$work/told" | sed 's/^/# attack own-session-afterwards: was told: /'
it "for that" test "$(grep -cE "Revoked: the consent for the microphone|session $id is (failed|ending)" "$work/told")" = 21
it "its movie was never begun" empty /home/alice/own.mkv
it "the history has why" revoked "$id"

camera_id=$(capturectl devices --json | sed -n 's/^ *"id": "\(.*\)",$/\1/p' | grep -m 1 -E "vivid|synthetic:camera")
setting_is() {
  if [[ $flavour == container ]]; then
    says "^$setting +$1 " capturectl control --camera "$camera_id" "$setting"
  else
    says " $1\$" v4l2-ctl -d "$(camera 1)" -C "$setting"
  fi
}
attack controls "a program without consent reads, sets, resets, locks, keeps and watches a camera's settings" \
  77 'SetControl: .*NotPermitted' "SetControl was refused to exe:$own/controls" \
  alone $own/controls "$camera_id" $setting
it "each is refused for that" each 11 "NotPermitted: exe:$own/controls has no consent for the camera" exe:$own/controls
it "the picture is as bright as before" setting_is $usual
it "that program may have the camera" allow_program controls
attack profile "a program with consent saves a camera's settings for every program, and forgets them" \
  77 'SaveProfile: .*NotPermitted' "SaveProfile was refused to exe:$own/controls" \
  alone $own/controls "$camera_id" $setting profile
it "each is refused for want of a password" each 2 "NotPermitted: .*takes your password" exe:$own/controls
it "there is no profile" fails test -e /var/lib/captured/profiles
spawn held $own/controls "$camera_id" $setting held
it "it locks the settings, and makes the picture dark" eval 'wait_for 60 grep -q held "$work/held.out" && setting_is 1'
it "its consent is withdrawn" capturectl auth set --user alice exe:$own/controls camera denied
it "all is refused to it again" eval 'ended held 77 && [[ $(grep -c "NotPermitted: .*no consent for the camera" "$work/held.out") == 11 ]]'
it "the picture is as bright as before" wait_for 20 setting_is $usual

it "her capturectl may have the camera again" allow alice camera
id=$(alone capturectl start "${movie[@]}" both.mkv)
it "a movie has two seconds of picture and tone" wait_for 90 has_recorded "$id" 2
it "its connections are disabled" eval 'alone capturectl disable $id microphone && alone capturectl disable $id camera'
goes_on() { local now; now=$(fact "$id" outputs.movie.duration) && wait_for 60 has_recorded "$id" $((${now%.*} + 3)); }
# What was captured before may be on its way.
it "the movie goes on" goes_on
frames=$(fact "$id" outputs.movie.frames) published=$(fact "$id" inputs.camera.published)
it "and on" goes_on
it "the camera delivers" eval '(($(fact $id inputs.camera.published) > published))'
it "both are in use all the time" uses "$id" 2
it "no photo is taken of the output whose camera is disabled" \
  fails alone capturectl photo --session "$id" --burst 1 disabled.jpg
it "it is stopped" eval 'alone capturectl stop $id && wait_for 60 session_is $id stopped'
it "it has no new picture" test "$(frame_count /home/alice/both.mkv)" = "$frames"
loudest() { on_host /home/alice/both.mkv ffmpeg -v info -nostdin "$@" -i {} -vn -af volumedetect -f null - 2>&1 | grep max_volume; }
it "it begins with the tone" says 'max_volume: -[0-9]\.' loudest -t 1
it "it ends with silence" says 'max_volume: -91\.0' loudest -sseof -2
stop_tone
finish
