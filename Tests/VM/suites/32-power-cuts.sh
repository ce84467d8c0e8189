#!/bin/bash
# Two power cuts while movies of each container record at three rates, one of them with sound, and sound of each: what each
# file lacks, as a table.
# machine: --systemd --vivid 3 --timeout 900 --karg vivid.multiplanar=1,1,1
# flavours: stock fast
# boots: 3
# cuts: 1 2
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

disk=/var/lib/recordings
# What had been recorded when the power was cut. On the host's disk: on the recordings' own it would bring them there.
account=/out/account
movies=(mkv mp4 mov) sounds=(flac opus wav)
rates=(5 30 60)
# Which of these record, how many buffers may wait for a recorder, and what is checked by that.
numbers=(0 1 2) most=50 recording="they record for a while, and keep up"
# An emulated processor records two movies and two sounds, others in each boot. Whether it keeps up depends on its host, so
# any number of buffers may wait. No rate is below two: how long a picture stays is known, and written, when the next one comes.
! emulated ||
  { rates=(2 4 5) numbers=($((boot - 1)) $((boot % 3))) most=1000000 recording="they record for a while"; }

# records FILE OPTION...: by itself; its session's number goes to $work/sessions
records() {
  local id
  rm -f "$1"
  id=$(capturectl start "${@:2}" "$1") && echo "$id $1" >>"$work/sessions"
}
records_movie() { # NUMBER
  local rate=${rates[($1 + boot) % 3]} file=$disk/$1.${movies[$1]} sound=(--microphone none)
  (($1)) || sound=(--microphone hw:Loopback,1,0 --audio-codec pcm)
  records "$file" --camera "$(camera $(($1 + 1)))" "${sound[@]}" --video-format "YUYV:320x180@$rate"
}
records_sound() { records "$disk/sound.${sounds[$1]}" --camera none --microphone "hw:Loopback,1,$1"; }
# all_record SECONDS: each has so much in its file, and no more waits for its recorder than may. What waits is lost, too.
all_record() {
  local id
  while read -r id _; do
    facts capturectl status --json "$id" || return 1
    awk -F= -v least="$1" -v most=$most '
      /^statistics\.outputs\.[^.]*\.queueDepth=/ { waiting += $2 }
      /^statistics\.outputs\.[^.]*\.duration=/ && $2 >= least { found = 1 }
      END { exit !found || waiting > most }' "$work/facts" || { cat "$work/facts"; return 1; }
  done <"$work/sessions"
}
now() { date +%s.%N; }
# For each file: when status was asked and answered, by the wall clock; how long it had recorded; how many buffers waited; and
# how many seconds status said were in the file.
notes_starts() {
  local id file asked answered
  while read -r id file; do
    asked=$(now)
    capturectl status --json "$id" >"$work/status" || return 1
    answered=$(now)
    facts cat "$work/status"
    echo "$file $asked $answered $(value statistics.elapsed)" $(sed -n 's/^statistics\.outputs\.[^.]*\.queueDepth=//p' "$work/facts") \
      $(sed -n 's/^statistics\.outputs\.[^.]*\.duration=//p' "$work/facts")
  done <"$work/sessions" >$account
  echo "cut $(now)" >>$account && sync $account
}

# lacks FILE: at most a second, from the end of its shorter stream to the cut. status told how long it had recorded at some
# time between a question and its answer, so that the loss lies between two figures; the lower one decides. On an emulated
# processor a recorder for which more than ten buffers wait is behind: its file has all but a second of what status said was
# in it.
lacks() {
  local end asked answered elapsed waiting told cut
  read -r _ asked answered elapsed waiting told < <(grep "^$1 " $account)
  cut=$(sed -n 's/^cut //p' $account)
  end=$(on_host "$1" ffprobe -v error -show_entries packet=stream_index,pts_time,duration_time -of csv=p=0 {} |
    awk -F, 'NF > 2 { e = $2 + $3; if (e > m[$1]) m[$1] = e }
      END { for (s in m) if (!n++ || m[s] < least) least = m[s]; print least + 0 }')
  awk -v file="${1##*/}" -v end="$end" -v had="$elapsed" -v asked="$asked" -v answered="$answered" -v cut="$cut" \
    -v waiting="$waiting" -v told="$told" -v excused="$(emulated && echo 1 || echo 0)" '
    BEGIN { least = had + cut - answered - end
      printf "# %s: %.2f s in the file, %.2f to %.2f s lost, %s buffers waited, %.2f s were told\n", file, end, least,
        had + cut - asked - end, waiting, told
      exit !(had > 0 && end > 0 && told > 0 && (excused && waiting > 10 ? told - end : least) <= 1) }'
}
checks() {
  local file
  for file in $(sed -n 's/^\(\/[^ ]*\) .*/\1/p' $account); do
    it "${file##*/} plays" playable "$file"
    it "${file##*/} lacks at most a second" lacks "$file"
    cat "$work/output"
  done
}

it "the disk is there" mount_state $disk
if ((boot > 1)); then
  cp "${CAPTURE_TEST_INSTALLED%/*}/32-power-cuts/boot$((boot - 1))/account" $account
  it "there is an account of what was recorded" test -s $account
  checks
fi
if ((boot < 3)); then
  it "captured serves" serve
  for number in "${numbers[@]}"; do
    it "camera $number is a webcam" vivid_reset "$(camera $((number + 1)))" 0 320x180 YUYV "${rates[(number + boot) % 3]}"
    it "a tone sounds" play_tone 440 600 $number
    it "a ${sounds[$number]} file records" records_sound $number
    it "a ${movies[$number]} file records" records_movie $number
  done
  it "$recording" wait_for 180 all_record 3
  it "what is recorded is noted" notes_starts
  power_cut
fi
finish
