# What is in a recorded file. ffprobe takes seconds to start under emulation: there the host looks, and once at each file.

# on_host FILE COMMAND...: what ffprobe, ffmpeg, or python3 with the name of a script here, says of the file: {} in its words
on_host() {
  local file=$1 id=$SRANDOM words moment began
  shift
  if [[ $flavour != stock ]]; then
    words=("${@//\{\}/$file}")
    [[ $1 != python3 ]] || words=("$python" "$vm/lib/guest/${words[1]}" "${words[@]:2}")
    "${words[@]}"
    return
  fi
  local answer=/out/.machine/looks/$id
  cp "$file" "$answer-${file##*/}" || return 1
  # Its folder there is the one in which the command runs.
  words=$(IFS=$'\x1f'; echo "${*//\{\}/$id-${file##*/}}")
  echo "### look $id $words" >&"$console"
  look_at_clock
  began=$moment
  until [[ -e $answer.status ]]; do
    nap 0.02
    look_at_clock
    ((moment - began < 120)) || { echo "the host does not look"; return 1; }
  done
  [[ ! -s $answer.errors ]] || cat "$answer.errors" >&2
  [[ ! -s $answer.said ]] || cat "$answer.said"
  read -r words <"$answer.status"
  return "$words"
}

# probe FILE: everything ffprobe knows, frames counted by decoding, as lines such as streams.stream.0.codec_name="h264"
probe() {
  local key
  key=$(stat -c %s.%y "$1")
  key="$work/probe.${1//\//,}.${key// /,}"
  if [[ ! -s $key ]]; then
    on_host "$1" ffprobe -v error -count_frames -show_streams -show_format -of flat {} >"$key.new" || return 1
    mv "$key.new" "$key"
  fi
  cat "$key"
}
probe_value() { probe "$1" | sed -n "s/^$2=\"\\{0,1\\}\\([^\"]*\\)\"\\{0,1\\}\$/\\1/p"; }

# stream_of FILE video|audio: the number of the first stream of that kind
stream_of() { probe "$1" | sed -n "s/^streams\\.stream\\.\\([0-9]*\\)\\.codec_type=\"$2\"\$/\\1/p" | head -n 1; }
stream_value() { probe_value "$1" "streams.stream.$(stream_of "$1" "$2").$3"; }
codec() { stream_value "$1" "$2" codec_name; }          # codec FILE video
frame_count() { stream_value "$1" video nb_read_frames; } # frame_count FILE
picture_size() { echo "$(stream_value "$1" video width)x$(stream_value "$1" video height)"; }
sample_rate() { stream_value "$1" audio sample_rate; }
duration() { probe_value "$1" format.duration; }
container() { probe_value "$1" format.format_name; }
playable() { [[ -n $(probe "$1") ]]; }

# plays FILE: a player takes all of it, and has nothing to say
plays() {
  local said
  # With the file's own clock: ffmpeg's guess of a rate gives two pictures one time that come shortly after one another.
  said=$(on_host "$1" ffmpeg -v warning -xerror -nostdin -i {} -enc_time_base -1 -f null - 2>&1) && [[ -z $said ]] || { echo "$said"; return 1; }
}

# has FILE KIND NAME WANTED, as in: it "is H.264" has out.mkv video codec_name h264
has() {
  local value
  value=$(stream_value "$1" "$2" "$3")
  [[ $value == "$4" ]] || { echo "$2 $3 is '$value', not '$4'"; return 1; }
}

# tone FILE: the frequency of what sounds in it, in Hz
tone() { on_host "$1" python3 tone.py measure {}; }
# onsets FILE: when each beep in it begins, in seconds
onsets() { on_host "$1" python3 tone.py onsets {}; }
# bars FILE [SECONDS] [TOLERANCE]: a picture of vivid's colour bars, in their order
bars() { on_host "$1" python3 picture.py bars {} "${@:2}"; }
# patch FILE SECONDS X Y: red, green and blue around that place, given as parts of width and height from 0 to 1
patch() { on_host "$1" python3 picture.py patch {} "${@:2}"; }
