# The media library of the installed daemon: pictures to put into it, and where it keeps them.
# shellcheck shell=bash

libraries=/var/lib/captured/library

# pixel NUMBER FILE: a photo of one pixel, another one for each number up to 16777215
pixel() {
  local red green blue
  red=$(printf '\\x%02x' $(($1 >> 16 & 255)))
  green=$(printf '\\x%02x' $(($1 >> 8 & 255)))
  blue=$(printf '\\x%02x' $(($1 & 255)))
  printf 'GIF89a\x01\0\x01\0\x80\0\0'"$red$green$blue"'\xff\xff\xff\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b' >"$2"
}

# digest FILE: its SHA-256
digest() { sha256sum "$1" | cut -d ' ' -f 1; }
# content HASH: the file of that content in alice's library
content() { echo "$libraries/1000/contents/${1:0:2}/$1"; }
# contents: how many files her library has
contents() { find "$libraries/1000/contents" -type f | wc -l; }
# nothing_begun: no part of an import is there any more
nothing_begun() { [[ -z $(ls -A "$libraries/1000/transit") ]] || { ls -l "$libraries/1000/transit"; return 1; }; }
# begun BYTES: an import has so many of its bytes
begun() { (($(cat "$libraries"/1000/transit/* | wc -c) >= $1)); }

# may_use_library USER PROGRAM none|add-only|limited|all
may_use_library() { capturectl auth set --user "$1" "$2" library "$3"; }
# sound_library: index and files agree, as the daemon finds them
sound_library() { says 'nothing is wrong with the library' alone capturectl library check; }
# into_library NAME SECONDS [OPTION...]: alice records a movie into it, at library_rate
library_rate=10
into_library() {
  alone capturectl record --to-library --name "$1" --camera "$(camera 1)" --video-format "$(small $library_rate)" \
    --video-codec mjpeg --duration "$2" "${@:3}"
}
# begins_into NAME [OPTION...]: the same in the background, until some of it is there; ends_into STATUS PATTERN: it ends so
begins_into() {
  rm -f "$work/into.status"
  (into_library "$1" 600 "${@:2}" >"$work/into" 2>&1; echo $? >"$work/into.status") &
  wait_for 240 begun 20000
}
ends_into() {
  wait_for 60 test -s "$work/into.status" && [[ $(<"$work/into.status") == "$1" ]] && grep -q -- "$2" "$work/into" ||
    { cat "$work/into.status" "$work/into"; return 1; }
}
# kept_id: the first of the recordings that could not be saved
kept_id() { facts alone capturectl library kept list --json && value 0.id; }
# counts NUMBER COMMAND...: so many assets are counted
counts() { [[ $("${@:2}" library count 2>"$work/counts") == "$1" ]] || { "${@:2}" library count; return 1; }; }
