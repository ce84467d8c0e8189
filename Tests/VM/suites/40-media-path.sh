#!/bin/bash
# The way of a frame: what the device's thread does for each, whatever the number of readers, while it is recorded too.
# machine: --systemd --vivid 2 --timeout 2400 --karg vivid.multiplanar=1,2
# flavours: stock fast
# shares: devices
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

camera=$(camera 1)
reader=$checkout/.build/release/capture-bench-reader
tests=$(ls -t "$checkout"/.build{/check,}/debug/capturedPackageTests.xctest 2>/dev/null | head -1)
# 1080p, at the rate that vivid's webcam has for it, recorded as JPEG, so that what is lost is lost by the readers. An
# emulated machine has no time for large pictures on a busy host.
size=1920x1080 rate=5 seconds=8 crowds=(1 8 32)
! emulated || size=640x360 crowds=(1 32)
video=(--camera "$camera" --microphone none --video-format "YUYV:$size@$rate" --video-codec mjpeg)

# device_thread: the number of the daemon's thread that polls the camera
device_thread() {
  local task
  for task in /proc/"$(main_pid captured)"/task/*; do
    [[ $(<"$task/comm") != v4l2-* ]] || { echo "${task##*/}"; return 0; }
  done
  echo "no thread of the daemon is named v4l2-*" >&2
  return 1
}

# read_with N MODE [SECONDS]: that many readers, in the background
read_with() {
  said=$(mktemp "$work/reader.XXXXXX")
  "$reader" "$camera" "YUYV:$size@$rate" "$1" "${3:-$seconds}" "$2" >"$said" 2>"$said.err" &
  reading=$!
  wait_for 90 grep -q running "$said" || { cat "$said.err"; return 1; }
}
read_done() {
  wait "$reading" || { cat "$said.err"; return 1; }
  tail -n 1 "$said" | awk -f "$vm/lib/guest/flat.awk" >"$work/read"
}
stop_reading() { kill "$reading" && read_done; }
got() { sed -n "s/^$1=//p" "$work/read"; }

# count_calls: the device thread's system calls for some frames, by name, into $work/calls.
# clock_gettime is a call only where the clock cannot be read without one.
is_traced() { grep -q '^TracerPid:	[1-9]' "/proc/$1/status"; }
count_calls() {
  local thread tracer from
  thread=$(device_thread) || return 1
  strace -c -p "$thread" -o "$work/strace" 2>"$work/strace.err" &
  tracer=$!
  # So many frames, however long they take: of few, the calls at the edges would count too much.
  wait_for 30 is_traced "$thread" && facts capturectl status --json "$id" &&
    from=$(value statistics.inputs.camera.published) && wait_for 60 came $((from + 30))
  kill "$tracer"
  wait "$tracer"
  awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4 }' "$work/strace" >"$work/calls"
  grep -q '^ioctl' "$work/calls" || { cat "$work/strace.err" "$work/strace"; return 1; }
}
calls() { awk -v n="$1" '$1 == n { print $2 }' "$work/calls"; }
clock=$(</sys/devices/system/clocksource/clocksource0/current_clocksource)
clock_is_free() { [[ $clock == tsc || $clock == kvm-clock ]]; }
# A frame is two ioctls, VIDIOC_DQBUF and VIDIOC_QBUF.
per_frame() {
  awk -v free="$(clock_is_free && echo 1)" '
    $1 == "ioctl" { frames = $2 / 2 }
    free || $1 != "clock_gettime" { all += $2 }
    END { printf "%.2f\n", all / frames }' "$work/calls"
}
at_most() { awk -v v="$1" -v m="$2" 'BEGIN { exit !(v != "" && v <= m) }' || { echo "$1 is more than $2"; return 1; }; }

it "captured serves" serve
it "the camera shows bars at $size" vivid_reset "$camera" 0 $size YUYV $rate

# lost: what was lost so far in the recording and on its way. A gap in the driver's count is vivid's own: its thread came
# late on this processor, while it held buffers for several frames.
lost() {
  facts capturectl status --json "$id" >/dev/null
  awk -F= '(/\.drops\./ && !/sequence-gap/) || /\.missedFrames=/ { n += $2 } END { print n + 0 }' "$work/facts"
}
nothing_lost() { [[ $(lost) == "$1" ]] || { echo "before: $1"; grep -E 'drops|issedFrames|published' "$work/facts"; return 1; }; }

# While it is recorded all along.
id=$(capturectl start "${video[@]}" "$work/all.mkv")
it "a recording runs" wait_for 20 session_is "$id" running
# The first frames find memory that was never touched.
recorded() { facts capturectl status --json "$id" && (($(value statistics.outputs.movie.frames) >= $1)); }
it "it has recorded some seconds" wait_for 90 recorded $((rate * 4))
declare -A cost
# settled: what the device had been handed when readers came or left is copied by now, and the stream goes on in other
# memory. Two frames come without a copy.
settled() {
  local frames
  facts capturectl status --json "$id" && frames=$(value statistics.inputs.camera.published) bytes=$(value statistics.inputs.camera.copiedBytes) &&
    wait_for 30 came $((frames + 2)) && is statistics.inputs.camera.copiedBytes "$bytes"
}
no_more_copied() { facts capturectl status --json "$id" && is statistics.inputs.camera.copiedBytes "$bytes"; }
came() { facts capturectl status --json "$id" && (($(value statistics.inputs.camera.published) >= $1)); }
# An emulated machine is at times held up by its host for longer than any ring lasts: three tries.
reading_loses_nothing() {
  local try before
  for try in 1 2 3; do
    wait_for 60 settled && read_with "$1" look && before=$(lost) && read_done || return 1
    ! nothing_lost "$before" || [[ $(got mostMissed) != 0 ]] || return 0
    cat "$work/read"
  done
  return 1
}
for readers in "${crowds[@]}"; do
  it "$readers readers get every frame, and the recording drops nothing" reading_loses_nothing $readers
  # Who joins a stream finds no older frame in its memory; what the driver has been handed by then, eight at most, is copied.
  it "$readers readers: their joining has no more copied than the driver holds" test "$(got copiedBytes)" -le $((8 * ${size%x*} * ${size#*x} * 2))
  # Tracing slows the thread down, so it has a run of its own.
  it "$readers readers read again" read_with $readers look 300
  it "$readers readers: they have joined" wait_for 30 settled
  it "$readers readers: the device thread's calls are counted" count_calls
  it "$readers readers: no byte is copied" no_more_copied
  cost[$readers]=$(per_frame)
  echo "# $readers readers: ${cost[$readers]} calls a frame, clock $clock: $(tr '\n' ' ' <"$work/calls")"
  it "$readers readers: one call wakes them all" at_most "$(calls futex)" $(($(calls ioctl) / 2 + 2))
  it "$readers readers end" stop_reading
done
# poll, DQBUF, futex, QBUF. Without a clock that is read for nothing each frame also asks for the time once, which is said
# above and not counted.
it "at most four system calls a frame" at_most "$(awk '$1 != "clock_gettime" { n += $2 } $1 == "ioctl" { f = $2 / 2 } END { print n / f }' "$work/calls")" 4.1
it "they do not grow with the readers" within "${cost[32]}" "${cost[1]}" 0.2

stopped() { kill -STOP "$reading"; }
it "eight readers are stopped in the middle" read_with 8 copy
it "stopped" stopped
stopped_reading=$reading stopped_said=$said
# A machine that is held up has fewer frames for everybody.
reads_on() {
  local turn
  for turn in 1 2 3 4 5 6; do
    reading_loses_nothing 1 || return 1
    (($(got fewest) < seconds * rate * 3 / 4)) || return 0
  done
  return 1
}
it "meanwhile another gets every frame for as long as it reads, and the recording drops nothing" reads_on
reading=$stopped_reading said=$stopped_said
it "the device thread does what it did" count_calls
it "as many calls a frame" within "$(per_frame)" "${cost[1]}" 0.2
# The stream went on in fresh memory when the other reader left, where they begin: only what that could not hold is missed.
published() { facts capturectl status --json "$id" >/dev/null && value statistics.inputs.camera.published; }
passed() { (($(published) > $1)); }
it "more frames pass than there are slots" wait_for 90 passed $(($(published) + 20))
kill -CONT "$reading"
it "they go on" read_done
it "and are told what they missed" test "$(got mostMissed)" -gt 0

it "the recording ends" capturectl stop "$id"
it "the recording is finished" wait_for 60 session_is "$id" stopped
facts capturectl status --json "$id"
it "every frame is in its file" test "$(frame_count "$work/all.mkv")" = "$(sed -n 's/^statistics\.outputs\..*\.frames=//p' "$work/facts")"

# On the thread itself, counted by the tests of the camera against this driver.
# `swift build --build-tests` makes them.
it "the device thread allocates nothing in the steady state" \
  env CAPTURE_TEST_CAMERA="$camera" "$tests" --testing-library swift-testing --filter "steady state"
finish
