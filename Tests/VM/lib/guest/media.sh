# What is in a recorded file. ffprobe is slow to start under emulation, so each file is read once.

# probe FILE: everything ffprobe knows, frames counted by decoding, as lines such as streams.stream.0.codec_name="h264"
probe() {
  local key
  key=$work/probe.$(stat -c %n.%s.%y "$1" | cksum | tr -d ' ')
  if [[ ! -s $key ]]; then
    ffprobe -v error -count_frames -show_streams -show_format -of flat "$1" >"$key.new" || return 1
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
  said=$(ffmpeg -v warning -xerror -nostdin -i "$1" -enc_time_base -1 -f null - 2>&1) && [[ -z $said ]] || { echo "$said"; return 1; }
}

# has FILE KIND NAME WANTED, as in: it "is H.264" has out.mkv video codec_name h264
has() {
  local value
  value=$(stream_value "$1" "$2" "$3")
  [[ $value == "$4" ]] || { echo "$2 $3 is '$value', not '$4'"; return 1; }
}

# sound FILE OUT.wav: the first sound of any file as 16 bit mono
sound() { ffmpeg -v error -nostdin -y -i "$1" -map 0:a:0 -ac 1 -c:a pcm_s16le "$2"; }
# tone FILE.wav: the frequency of what sounds in it, in Hz
tone() { "$python" "$vm/lib/guest/tone.py" measure "$1"; }
# bars FILE [SECONDS] [TOLERANCE]: a picture of vivid's colour bars, in their order
bars() { "$python" "$vm/lib/guest/picture.py" bars "$@"; }
# patch FILE SECONDS X Y: red, green and blue around that place, given as parts of width and height from 0 to 1
patch() { "$python" "$vm/lib/guest/picture.py" patch "$@"; }
