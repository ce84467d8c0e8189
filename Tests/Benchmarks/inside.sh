#!/bin/bash
# What runs in the test machine for `run`: the installed daemon, inputs in a known state, then the rounds.
. "$(dirname "${BASH_SOURCE[0]}")/../VM/lib/guest.sh"
programs=$checkout/.build/release
fail() { echo "bench: $*" >&2; exit 1; }

serve >"$work/serve.log" 2>&1 || { cat "$work/serve.log"; fail "the daemon does not run"; }
# Its first start looks at every plugin there is; that is not what is measured.
! command -v gst-inspect-1.0 >/dev/null || gst-inspect-1.0 >/dev/null 2>&1
# For as long as it takes; the player's time is nobody's.
ffmpeg -v error -nostdin -f lavfi -i sine=frequency=1000:sample_rate=48000 -ac 2 -c:a pcm_s16le -f alsa hw:Loopback,0 &
wait_for 60 loop_plays 0 || fail "no tone plays"
loopback=$(grep -ls '^Dummy video device' /sys/class/video4linux/*/name | head -n 1)
if [[ -n $loopback ]]; then
  mjpeg=/dev/$(basename "$(dirname "$loopback")")
  ffmpeg -v error -f lavfi -i testsrc2=size=1280x720:rate=15 -t 2 -c:v mjpeg -q:v 5 -pix_fmt yuvj422p "$work/m.avi"
  ffmpeg -v error -nostdin -re -stream_loop -1 -i "$work/m.avi" -c copy -f v4l2 "$mjpeg" &
  wait_for 60 says "'MJPG'" v4l2-ctl -d "$mjpeg" --get-fmt-video || fail "the compressed camera does not play"
fi
export BENCH_CAMERA=$(camera 1) BENCH_MJPEG=${mjpeg:-} BENCH_PROGRAMS=$programs BENCH_WORK=$work BENCH_RESET=$work/reset
# vivid keeps one program's choice for the next.
printf '. %q\nvivid_reset "$@"\n' "$vm/lib/guest.sh" >"$BENCH_RESET"
"$python" "$checkout/Tests/Benchmarks/inside.py" "$1" /out/bench.json
