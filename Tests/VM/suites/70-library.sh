#!/bin/bash
# The media library of an installed daemon: what people do with it on the command line, what programs get that may not read
# it, and what becomes of it when the daemon, a program or the disk gives out.
# machine: --systemd --vivid 2 --timeout 3000
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

mine=/home/alice/mine
root=org.capturekit.Capture1

prepare() {
  vivid_reset "$(camera 1)" 0 320x180 YUYV && allow alice camera microphone && log_in_elsewhere bob &&
    cp /usr/bin/capturectl $mine && mkdir -p /etc/captured/apps.d &&
    printf '%s\n' '[Desktop Entry]' Name=Mine X-Capture-Program=exe:$mine X-Capture-LibraryUsageDescription=Shows \
      X-Capture-LibraryAddUsageDescription=Saves >/etc/captured/apps.d/mine.desktop
}

# The first look asks, on the terminal of the command itself.
asked() {
  it "without a terminal there is nobody to ask" refused 75 'nobody to ask' alone capturectl library list
  it "nothing is stored of that" fails says library answers
  terminal no capturectl library list
  it "the question says what the library is for" shows no 'Shows, changes and exports'
  replies no n
  it "a no exits 77" ends no 77
  it "it is stored" stores "alice $capturectl_program library-read-write denied"
  it "from then on nothing is shown, which says why" says 'nothing is shown: .*denied' alone capturectl library list
  capturectl auth reset --user alice $capturectl_program library-read-write
  terminal yes capturectl library list
  replies yes y
  it "a yes shows what there is" ends yes 0
  it "it is stored" stores "alice $capturectl_program library-read-write authorized"
}

# What was recorded gets into the library and out again as it was.
kept() {
  local file
  it "a movie is recorded" alone capturectl record --camera "$(camera 1)" --video-format "$(small 10)" --video-codec mjpeg \
    --duration 1 movie.mkv
  it "and a photo" alone capturectl photo --camera "$(camera 1)" photo.jpg
  it "and sound" alone capturectl record --camera none --duration 1 sound.wav
  it "they are added" adds movie.mkv photo.jpg sound.wav
  read -r movie photo sound < <(tr '\n' ' ' <"$work/ids")
  it "three are there" counts 3 alone capturectl
  it "they are listed by name" listed
  it "the movie is known as one" known "$movie" kind=movie width=320 height="${small_size#*x}" mediaType=video/x-matroska
  it "the photo is" known "$photo" kind=photo mediaType=image/jpeg codec=mjpeg
  it "the sound is" known "$sound" kind=sound mediaType=audio/wav codec=pcm_s16le
  it "with the program that added it" known "$sound" program=$capturectl_program
  it "a picture of the movie is made" thumbnail "$movie"
  it "text is no media" refused 65 'nothing that is known here' alone capturectl library add /etc/passwd
  head -c 300 /home/alice/movie.mkv >/home/alice/part.mkv
  it "the beginning of a movie is refused" refused 65 'cut off' alone capturectl library add part.mkv
  it "nothing of the refused stays" nothing_begun
  it "all is exported" alone capturectl library export --all out
  for file in movie.mkv photo.jpg sound.wav; do
    it "$file is what it was" cmp "/home/alice/$file" "$(find /home/alice/out -name "$file")"
  done
  it "the movie plays" has "$(find /home/alice/out -name movie.mkv)" video codec_name mjpeg
  it "the sound does" has "$(find /home/alice/out -name sound.wav)" audio codec_type audio
  it "a second export writes nothing" says '0 assets exported, 3 already there' alone capturectl library export --all out
}
# adds FILE...: their ids are in `ids`
adds() {
  alone capturectl library add "$@" >"$work/ids" && [[ $(wc -l <"$work/ids") == $# ]] || { cat "$work/ids"; return 1; }
}
listed() {
  facts alone capturectl library list --json --order name --ascending &&
    [[ $(sed -n 's/^[0-9]*\.name=//p' "$work/facts" | tr '\n' ' ') == 'movie.mkv photo.jpg sound.wav ' ]] ||
    { cat "$work/facts"; return 1; }
}
# known ID FACT=VALUE...: as `show` tells
known() {
  local fact
  facts alone capturectl library show --json "$1" || return 1
  for fact in "${@:2}"; do is "${fact%%=*}" "${fact#*=}" || return 1; done
}
thumbnail() {
  alone capturectl library thumbnail --size small "$1" small.jpg && [[ $(picture_size /home/alice/small.jpg) == "256x$((256 * ${small_size#*x} / 320))" ]]
}

albums() {
  it "an album is made" alone capturectl library album create Summer
  it "a movie and a photo are put into it" alone capturectl library album add Summer "$photo" "$movie"
  it "it has them" counts 2 alone_in Summer
  it "another name is given to it" alone capturectl library album rename Summer Winter
  it "one is taken out" alone capturectl library album remove Winter "$photo"
  it "the list tells" says 'Winter +1 ' alone capturectl library album list
  it "a file is added to it at once" alone capturectl library add --album Winter --name second.wav sound.wav
  it "which is a second asset of one content" test "$(contents)" = 3
  it "the album has it" counts 2 alone_in Winter
  it "an album that is not there is told" refused 66 "no album 'Summer'" alone capturectl library album add Summer "$photo"
  it "it is deleted" alone capturectl library album delete Winter
  it "its assets stay" counts 4 alone capturectl
}
# alone_in ALBUM WORD...: the command of those words about that album
alone_in() { alone capturectl "${@:2}" --album "$1"; }

edits() {
  pixel 1 /home/alice/edit.gif
  it "the photo is edited" alone capturectl library edit "$photo" edit.gif
  it "it is another now" known "$photo" edited=true width=1 mediaType=image/gif
  it "it is exported" alone capturectl library export "$photo" edited
  it "as it is" cmp /home/alice/edit.gif "$(find /home/alice/edited -name photo.jpg)"
  it "and as it was" cmp /home/alice/photo.jpg "$(find /home/alice/edited -name photo.original.jpg)"
  it "a photo has no sound for an edit" refused 65 'has to be a photo' alone capturectl library edit "$photo" sound.wav
  it "it is reverted" alone capturectl library revert "$photo"
  it "and is what it was" known "$photo" edited=false mediaType=image/jpeg
  it "the edit is gone" fails test -e "$(content "$(digest /home/alice/edit.gif)")"
}

deletes() {
  it "without a person nothing is deleted" refused 75 'nobody to ask' alone capturectl library delete "$sound"
  terminal keep capturectl library delete "$sound" "$photo"
  it "the question names what goes" shows keep 'sound.wav'
  replies keep n
  it "a no exits 77" ends keep 77
  it "and all is there" counts 4 alone capturectl
  terminal closed capturectl library delete "$sound"
  replies closed '\x04'
  it "a closed question exits 75" ends closed 75
  terminal go capturectl library delete "$sound" "$photo"
  replies go y
  it "a yes deletes" ends go 0
  it "two are left" counts 2 alone capturectl
  it "the journal tells who did it" says "$capturectl_program put 2 items of the media library into the bin" journal captured
  it "they are in the bin" says 'sound\.wav' alone capturectl library list --bin
  it "everything is exported" alone capturectl library export --all without
  it "without what is in the bin" test -z "$(find /home/alice/without -name 'photo*')"
  it "they are restored" alone capturectl library restore "$sound" "$photo"
  it "and are what they were" known "$photo" name=photo.jpg
  it "another is added" adds movie.mkv
  terminal away capturectl library delete "$(<"$work/ids")"
  replies away y
  it "and deleted" ends away 0
  it "nobody empties the bin without a person" refused 75 'nobody to ask' alone capturectl library empty
  terminal empty capturectl library empty
  it "to empty the bin is asked, too" shows empty 'erase 1 item in the media library.s bin'
  replies empty y
  it "a yes erases" ends empty 0
  it "nothing is in the bin" says 'the bin is empty' alone capturectl library empty
  it "its content stays, which another has" test "$(contents)" = 3
}

# What the person picks, which takes no consent of the command's.
picks() {
  local before
  before=$(digest /home/alice/photo.jpg)
  capturectl auth reset --user alice $capturectl_program library
  it "without a terminal there is nobody who could pick" refused 75 'nobody to ask' \
    alone capturectl library pick --to picked
  terminal pick capturectl library pick --kind photo --to picked
  it "the library is shown" shows pick 'photo\.jpg'
  it "by kind" fails grep -q 'sound\.wav' "$work/pick.screen"
  wait_for 60 prompted pick && types pick '1\n'
  it "what is picked is said" shows pick 'picked 1: photo\.jpg'
  wait_for 60 prompted pick && types pick 'd\n'
  it "it is handed over" ends pick 0
  it "as it is" test "$(digest /home/alice/picked/photo.jpg)" = "$before"
  it "what the command may read is what it was" says '"readWrite": *"notDetermined"' \
    alone capturectl library status --json
  terminal none capturectl library pick --to nothing
  wait_for 60 prompted none && types none 'q\n'
  it "nothing is picked: 75" ends none 75
  it "and nothing is written" fails test -e /home/alice/nothing
  terminal cut capturectl library pick --to nothing
  it "another question stands" wait_for 60 prompted cut
  kill_hard captured
  it "the daemon is killed: the command is told so" ends cut 69
  it "it is back" wait_for 60 active captured
  it "nothing is written" fails test -e /home/alice/nothing
  systemctl reset-failed captured
  may_use_library alice $capturectl_program all
  it "the history has what was picked" says "picked .*the person picked 1 item of the media library" \
    alone capturectl history --program $capturectl_program
  it "and what was deleted" says "confirmation .*let $capturectl_program put 2 items of the media library into the bin" \
    alone capturectl history --program $capturectl_program
}
prompted() { [[ $(tail -c 6 "$work/$1.screen") == 'pick> ' ]]; }

# What the person takes for a command that may not use the camera.
takes() {
  capturectl auth set --user alice $capturectl_program camera denied
  it "without a terminal there is nobody who could take anything" refused 75 'nobody to ask' alone capturectl take none.jpg
  terminal take capturectl take --pictures none taken.jpg
  it "it says who asks" shows take 'asks you to take a photo'
  it "the camera is turned on by the person" types_at take 'w says who asks' '\n'
  it "the photo is taken" types_at take 'Enter takes the photo' '\n'
  it "it is handed over" types_at take 'Enter hands it over' '\n'
  it "the command is at its end" ends take 0
  it "the photo is one" has /home/alice/taken.jpg video codec_name mjpeg
  it "the library does not have it" fails says 'taken' alone capturectl library list
  terminal film capturectl take --pictures none --duration 1s taken.mp4
  it "the camera is turned on for a movie" types_at film 'w says who asks' '\n'
  it "the movie is begun" types_at film 'Enter begins the movie' '\n'
  it "it comes to its end, and is handed over" types_at film 'Enter hands it over' '\n'
  it "the command has the movie" ends film 0
  it "the movie plays" has /home/alice/taken.mp4 video codec_name h264
  it "the camera is used no more" fails says "$(camera 1)" alone capturectl status
  it "the history has the uses" says 'taking' alone capturectl history --program $capturectl_program
  allow alice camera
}
# types_at NAME PATTERN KEYS: types them when the last line says so
types_at() { wait_for 60 last_line "$1" "$2" && types "$1" "$3" || { cat "$work/$1.screen"; return 1; }; }
last_line() { tail -n 1 "$work/$1.screen" | grep -qE -- "$2" || tail -n 2 "$work/$1.screen" | grep -qE -- "$2"; }

# What is recorded straight into the library, and what becomes of that which may not be saved.
to_library() {
  local made
  it "a movie is recorded into an album" into_library trip.mkv 1 --album Trip
  it "it is listed" says 'trip\.mkv' alone capturectl library list --album Trip
  facts alone capturectl library list --json --album Trip
  made=$(value 0.id)
  it "it is shown" known "$made" kind=movie name=trip.mkv width=320 program=$capturectl_program
  it "it is exported" alone capturectl library export "$made" trip
  it "as it was recorded" has "$(find /home/alice/trip -name trip.mkv)" video codec_name mjpeg
  it "a player plays it" plays "$(find /home/alice/trip -name trip.mkv)"

  it "another is under way" begins_into withdrawn.mkv
  may_use_library alice $capturectl_program none
  pkill -INT -x capturectl
  it "the consent went before its end: the command exits 77" ends_into 77 'the recording is kept'
  it "it waits, and why" says 'withdrawn\.mkv .*withdrawn' alone capturectl library kept
  made=$(kept_id)
  it "no program saves it by itself" refused 75 'nobody to ask' alone capturectl library kept save "$made"
  it "nor discards it" refused 75 'nobody to ask' alone capturectl library kept discard "$made"
  terminal stays capturectl library kept discard "$made"
  it "the question says what is lost" shows stays 'Discarded recordings are gone'
  replies stays n
  it "a no exits 77" ends stays 77
  it "it waits still" test "$(kept_id)" = "$made"
  terminal goes capturectl library kept discard "$made"
  replies goes y
  it "a yes discards it" ends goes 0
  it "none waits" says 'no recording is waiting' alone capturectl library kept
  it "nothing of it stays" nothing_begun

  may_use_library alice $capturectl_program all
  it "a third is under way" begins_into killed.mkv
  kill_hard captured
  it "the daemon is killed: the command is told so" ends_into 69 ''
  it "it is back" wait_for 60 active captured
  systemctl reset-failed captured
  it "its recorder has come to its end" wait_for 60 fails pgrep -f libexec/captured-recorder
  it "the recording waits" says 'killed\.mkv' alone capturectl library kept
  terminal saves capturectl library kept save "$(kept_id)"
  replies saves y
  it "a yes saves it" ends saves 0
  facts alone capturectl library list --json --order added
  made=$(value 0.id)
  it "it is in the library" known "$made" kind=movie name=killed.mkv
  it "it is exported" alone capturectl library export "$made" killed
  it "a player plays it" plays "$(find /home/alice/killed -name killed.mkv)"
  it "index and files agree" sound_library
}

# What somebody did to the files.
faults() {
  local damaged missing
  damaged=$(content "$(digest /home/alice/photo.jpg)") missing=$(content "$(digest /home/alice/movie.mkv)")
  it "nothing is wrong with the library" sound_library
  it "its files are the daemon's to read alone" test "$(stat -c %a%U "$damaged")" = 400captured
  printf x | dd of="$damaged" bs=1 seek=100 conv=notrunc status=none
  rm "$missing"
  install -d -o captured -m 700 "$libraries/1000/contents/cd"
  install -o captured -m 400 /home/alice/edit.gif "$libraries/1000/contents/cd/cd00"
  it "a check exits 65" expect_exit 65 alone capturectl library check
  it "a check as JSON has it all" checks damaged missing orphaned
  it "it changed nothing" test -e "$libraries/1000/contents/cd/cd00"
  it "it is repaired" alone capturectl library repair
  it "then nothing is wrong" sound_library
  it "what belonged to nothing is set aside" cmp /home/alice/edit.gif "$libraries/1000/lost+found/cd00"
  it "so is the damaged" test -e "$libraries/1000/lost+found/$(digest /home/alice/photo.jpg).damaged"
  it "photo and movie are in the bin, which has no file for them" refused 74 'file is missing' \
    alone capturectl library restore "$movie"
  it "the sound is what it was" known "$sound" name=sound.wav kind=sound
  it "and can be had" alone capturectl library export "$sound" mended
  it "whole" cmp /home/alice/sound.wav "$(find /home/alice/mended -name sound.wav)"
}
# checks KIND...: it finds those kinds of faults
checks() {
  local kind
  alone capturectl library check --json >"$work/faults" 2>/dev/null
  for kind in "$@"; do grep -q "\"$kind\"" "$work/faults" || { cat "$work/faults"; return 1; }; done
}

# call MEMBER [SIGNATURE ARGUMENT...]: by busctl, a program of its own
call() { alone busctl call $root /org/capturekit/Capture1 $root.Library "$@"; }
caller=exe:/usr/bin/busctl
# sees_nothing STATUS: no asset by any call, and no difference between one that is there and one that is not
sees_nothing() {
  it "$1: a page is empty" says "^aa\{sv\}su 0 \"\" $2\$" call Fetch 'a{sv}' 0
  it "$1: so is one of the bin, or it is refused" says "^aa\{sv\}su 0 \"\" $2\$|the whole library can see the bin" \
    call Fetch 'a{sv}' 1 binned b true
  it "$1: the count is none" says "^tu 0 $2\$" call Count 'a{sv}' 0
  it "$1: nor is anything found by its id" says "^aa\{sv\}u 0 $2\$" call GetAssets as 1 "$sound"
  it "$1: there are no albums" says '^aa\{sv\} 0$' call ListAlbums
  same "$1: an asset is as one that is not there" GetAsset s
  same "$1: so is its content" Open ss current
  same "$1: and its picture" Thumbnail ss small
  it "$1: nothing is told to have changed" no_changes
}
# same SENTENCE MEMBER SIGNATURE [ARGUMENT]: refused by the same words as for an asset that never was
same() { it "$1" unknown_alike "${@:2}"; }
unknown_alike() {
  local nowhere=00000000000000000000000000000000
  call "$1" "$2" "$sound" "${@:3}" >"$work/there" 2>&1 && return 1
  call "$1" "$2" $nowhere "${@:3}" >"$work/nowhere" 2>&1 && return 1
  sed -i "s/$sound/$nowhere/" "$work/there"
  grep -q 'no asset' "$work/there" && diff "$work/there" "$work/nowhere"
}
no_changes() {
  local token
  token=$(call GetToken | cut -d '"' -f 2) && [[ -n $token ]] || return 1
  alone capturectl library favourite "$sound" || return 1
  alone capturectl library favourite --off "$sound" || return 1
  call GetChanges su "$token" 100 >"$work/changes" || { cat "$work/changes"; return 1; }
  # Seven empty lists.
  ! grep -q "$sound" "$work/changes" && [[ $(grep -oE '(aa\{sv\}|as) 0' "$work/changes" | wc -l) == 7 ]] ||
    { cat "$work/changes"; return 1; }
}
# changes_nothing NAME PATTERN: by no call
changes_nothing() {
  local words
  while read -r -a words; do
    it "$1: ${words[0]} is refused" refused 1 "$2" call "${words[@]}"
  done <<END
Change sa{sv} $sound 1 favourite b true
Revert s $sound
Delete as 1 $sound
END
  while read -r -a words; do
    it "$1: ${words[0]} is refused" refused 1 "$3" call "${words[@]}"
  done <<END
Restore as 1 $sound
CreateAlbum s Stolen
RenameAlbum ss $album Stolen
DeleteAlbum s $album
AddToAlbum sas $album 1 $sound
RemoveFromAlbum sas $album 1 $sound
Check
Repair
END
  it "$1: the asset is what it was" known "$sound" favourite=false edited=false name=sound.wav
}

programs() {
  album=$(alone capturectl library album create Private)
  alone capturectl library album add Private "$sound"
  may_use_library alice $caller none
  sees_nothing denied 2
  changes_nothing denied 'was denied the media library' 'was denied the media library'
  may_use_library alice $caller add-only
  sees_nothing add-only 2
  changes_nothing add-only 'was denied the media library' 'was denied the media library'
  may_use_library alice $caller limited
  sees_nothing limited 4
  changes_nothing limited 'no asset' 'only use chosen assets'
  capturectl auth reset --user alice $caller

  pixel 2 /home/alice/own.gif
  may_use_library alice exe:$mine none
  it "a program that was denied adds nothing" expect_exit 77 alone ./mine library add own.gif
  it "nothing of it is there" nothing_begun
  may_use_library alice exe:$mine add-only
  it "one that may only add does" alone ./mine library add own.gif
  it "it sees nothing, its own included" counts 0 alone ./mine
  it "and is told no id" empty_output alone ./mine library add --name again.gif own.gif
  it "its owner sees both" says '(own|again)\.gif' alone capturectl library list --program exe:$mine
  own=$(own_id)
  it "by the id it is nothing" refused 66 'no asset' alone ./mine library show "$own"
  may_use_library alice exe:$mine limited
  it "one that may use chosen assets sees those that it made" counts 2 alone ./mine
  it "and reads them" alone ./mine library show "$own"
  it "those of others it does not" refused 66 'no asset' alone ./mine library show "$sound"
  it "it edits its own" alone ./mine library edit "$own" edit.gif
  it "not those of others" refused 66 'no asset' alone ./mine library edit "$sound" sound.wav
}
own_id() { facts alone capturectl library list --json --program exe:$mine && value 0.id; }
empty_output() { [[ -z $("$@" 2>/dev/null) ]]; }

# Another person at the machine.
others() {
  may_use_library bob $capturectl_program all
  it "bob sees nothing of alice's" counts 0 bob capturectl
  it "not by the id" refused 66 'no asset' bob capturectl library show "$sound"
  it "nor by another program" expect_exit 1 \
    bob busctl call $root /org/capturekit/Capture1 $root.Library GetAsset s "$sound"
  it "he adds his own" bob capturectl library add /tmp/bobs.gif
  it "which alice does not see" fails says bobs alone capturectl library list
  it "he cannot look into the folder" fails bob ls $libraries
  it "nor can alice" fails alone ls $libraries
  it "nor into her own" fails alone cat "$libraries/1000/index.sqlite"
  it "not by a file's path" fails alone cat "$(content "$(digest /home/alice/sound.wav)")"
}
bob() { local as_folder=/ as_session=1; as bob "$@" </dev/null; }

# feeds BYTES COMMAND...: alice imports what comes through a pipe, of which half is there; COMMAND happens then
feeds() {
  local half
  half=$(($(stat -c %s /home/alice/movie.mkv) / 2))
  rm -f /home/alice/pipe.mkv && mkfifo -m 666 /home/alice/pipe.mkv
  (alone "$1" library add pipe.mkv >/dev/null 2>"$work/feeds"; echo $? >"$work/feeds.status") &
  feeding=$!
  exec {pipe}>/home/alice/pipe.mkv
  head -c $half /home/alice/movie.mkv >&$pipe
  wait_for 60 begun 1000
}
fed() {
  exec {pipe}>&-
  wait $feeding
  [[ $(<"$work/feeds.status") == "$1" ]] || { cat "$work/feeds.status" "$work/feeds"; return 1; }
}
finishes() { tail -c +$(($(stat -c %s /home/alice/movie.mkv) / 2 + 1)) /home/alice/movie.mkv >&$pipe; }

broken_off() {
  local before
  before=$(count)
  alone capturectl library changes --follow >"$work/follows" 2>&1 &
  wait_for 60 grep -q '^token' "$work/follows"
  feeds capturectl
  it "an import is under way" begun 1000
  it "nothing of it shows" counts "$before" alone capturectl
  kill_hard captured
  it "the daemon is killed: the program is told so" fed 69
  it "it is back" wait_for 60 active captured
  it "what was there is there" counts "$before" alone capturectl
  it "who follows what changes was told of both" wait_for 60 followed
  it "nothing half is" nothing_begun
  it "index and files agree" sound_library
  systemctl reset-failed captured

  feeds capturectl
  pkill -KILL -x capturectl
  it "the program is killed: nothing half stays" wait_for 60 nothing_begun
  exec {pipe}>&-
  wait $feeding
  it "what was there is there, by the same daemon" counts "$before" alone capturectl

  cp /usr/bin/capturectl $mine && may_use_library alice exe:$mine add-only
  feeds ./mine
  may_use_library alice exe:$mine none
  finishes
  it "the consent goes: the program is told so" fed 77
  it "nothing of it is there" counts "$before" alone capturectl
  it "nor half of it" wait_for 60 nothing_begun

  feeds capturectl
  finishes
  it "what comes to its end is added" fed 0
  it "it is there" counts $((before + 1)) alone capturectl
  it "as it was sent" test -e "$(content "$(digest /home/alice/movie.mkv)")"
}
followed() { grep -q 'daemon went away' "$work/follows" && grep -q 'daemon is back' "$work/follows"; }
count() { alone capturectl library count; }

# The disk that the library is on.
full() {
  local before
  before=$(count)
  it "the library is on a small disk" on_small_disk
  it "a file that does not fit is refused" refused 74 'full|No space|left' alone capturectl library add big.wav
  it "nothing of it stays" nothing_begun
  it "nor does a small one while nothing is left" refused 74 'full|No space|left' alone capturectl library add own.gif
  it "what was there is there" counts "$before" alone capturectl
  it "with its contents" alone capturectl library export "$sound" from-full
  it "whole" cmp /home/alice/sound.wav "$(find /home/alice/from-full -name sound.wav)"
  rm "$state/ballast"
  it "with room again it is added" alone capturectl library add big.wav
  it "index and files agree" sound_library
}
state=/var/lib/captured
on_small_disk() {
  make_tone /home/alice/big.wav 440 20 || return 1
  systemctl stop captured && mv $state /var/lib/aside && mkdir $state &&
    mount -t tmpfs -o size=400M,mode=0700,uid=captured,gid=captured tmpfs $state && cp -a /var/lib/aside/. $state/ || return 1
  systemctl start captured && alone capturectl library count || return 1
  # As much as there is, but for a little.
  fallocate -l $(($(stat -f -c '%a * %S' $state) - 300000)) $state/ballast
}

it "captured serves" start_captured
it "people and programs are there" prepare
pixel 3 /tmp/bobs.gif
chmod a+r /tmp/bobs.gif
asked
kept
albums
edits
deletes
picks
takes
to_library
programs
others
broken_off
faults
full
finish
