#!/bin/bash
# Sound stays with the picture on a card whose clock is 1000 ppm fast: five real minutes.
# machine: --systemd --vivid 2 --timeout 1800
# flavours: fast
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

camera=$(camera 1)
minutes=5 ppm=1000
file=$work/sync.mkv

# With the largest buffer, so that a machine that is held up does not let the player fall behind; where it did it says so,
# and what it plays comes later from there on.
play() {
  aplay --buffer-time=2500000 -D "hw:Loopback,0,$2" "$1" 2>"$work/player" &
  tone_player=$!
  wait_for 20 loop_plays "$2"
}

# on_time ONSETS: the card plays a second's samples too fast, so each beep comes that much sooner behind the one before it
# than a second; uncorrected, they would be a second apart. Where the card overran, silence may have cut a beep or two.
on_time() {
  awk -v n=$((minutes * 60)) -v ppm=$ppm -v fell="$(grep -c underrun "$work/player")" -v silence="$(value silence)" '
    # The first one was perhaps heard from its middle on.
    NR == 1 { next }
    NR == 2 { first = $1 }
    { off = ($1 - first) * (1 + ppm / 1000000); off -= int(off + 0.5); if (off < 0) off = -off
      if (off > 0.010 && fell > 0) { fell--; first = $1; print "the player fell behind before " $1 " s"; next }
      if (off > 0.010 && silence > 0 && cut < 2) { cut++; print "a beep was cut at " $1 " s"; next }
      if (off > far) far = off
      if (off > 0.010) printf "beep %d at %.3f s is off by %.1f ms\n", NR, $1, off * 1000
      if (NR <= 11 && off > start) start = off
      if (NR > n / 2 - 5 && NR <= n / 2 + 5 && off > middle) middle = off
      late[NR % 10] = off }
    END { for (i in late) if (late[i] > end) end = late[i]
      printf "%d beeps; off by %.1f ms at the start, %.1f in the middle, %.1f at the end, %.1f at most; uncorrected %.0f\n",
        NR, start * 1000, middle * 1000, end * 1000, far * 1000, n * ppm / 1000
      exit !(NR > n - 5 && far <= 0.010) }' "$1"
}

it "captured is installed and serves" serve
((not_ok_count == 0)) || finish
it "the camera delivers" vivid_reset "$camera" 0 320x180 YUYV 10
it "the card's clock is $ppm ppm fast" drift $ppm
it "beeps sound" play_beeps $((minutes * 60 + 120))
it "$minutes minutes are recorded" \
  record "$file" --camera "$camera" --video-format YUYV:320x180@10 --microphone hw:Loopback,1 --duration $((minutes * 60))
it "the drift is told" within "$(value driftPPM)" $ppm 50
it "no sound is lost" is missedSamples 0
onsets "$file" >"$work/onsets"
it "each beep is within 10 ms of its second" on_time "$work/onsets"
it "the file's length is true" within "$(duration "$file")" $((minutes * 60)) 0.1
on_time "$work/onsets"

stop_tone
drift 0
finish
