#!/bin/bash
# The lockdown turns the bridges on, by which programs that do not know captured come to it, and takes back what it did.
# machine: --systemd --vivid 1 --timeout 900
# flavours: stock fast container
. "$(dirname "${BASH_SOURCE[0]}")/../lib/guest.sh"

preload=/etc/ld.so.preload
library=/usr/lib/captured/libcaptured-v4l2.so
default=/etc/alsa/conf.d/99-zz-captured-default.conf
others="# of the site
$(ldconfig -p | sed -n 's/.* => \(.*libm\.so\.6\)$/\1/p' | head -n 1)"

same() { cmp "$preload" <(printf '%s' "$others"); }
loaded() { grep -q "$library" < <(cat /proc/self/maps); }
no_rest() { fails compgen -G '/etc/*captured-new' && fails compgen -G '/etc/alsa/conf.d/*captured-new'; }
table() { capturectl doctor --programs; }
uses() { capturectl history --user alice --json | tr -d '\n' | sed 's/}/}\n/g'; }
# As alice: programs that know nothing of captured.
streams() { as alice env CAPTURE_V4L2_DEVICES=/dev/video90=synthetic:camera timeout 60 ffmpeg -v error -f v4l2 \
  -input_format yuyv422 -video_size 640x480 -i /dev/video90 -frames:v 5 -f null -; }
records() { as alice timeout 60 arecord -q -d 1 -f S16_LE -r 48000 /dev/null; }

it "captured is installed, alice sits at the machine" start_captured
[[ $flavour != container ]] || start_udev
synthetic_devices && systemctl restart captured
for program in exe:/usr/bin/ffmpeg exe:/usr/bin/aplay; do
  for service in camera microphone; do capturectl auth set --user alice $program $service authorized; done
done
printf '%s' "$others" >"$preload"

# Who comes how, before.
it "the doctor lists ffmpeg" says '^ffmpeg +V4L2 +capture-run +/usr/bin/ffmpeg$' table
it "and by which device it records" says "^ffmpeg +ALSA +ALSA's device captured" table
it "and arecord by the name of its file" says "^aplay \(arecord\) +ALSA +ALSA's device captured" table
it "and no player" fails says '^mpg123|^speaker-test' table
it "programs that captured cannot reach are named" eval \
  'printf "#include <stdio.h>\nint main(void) { return puts(\"/dev/video0\") < 0; }\n" >"$work/s.c" &&
   cc -static -o /usr/local/bin/statically "$work/s.c" && says "^statically +V4L2 +not reached: static" table'
it "a page of it ends the doctor's report" says 'installed programs capture without knowing captured' capturectl doctor
it "as JSON it has the bridges" says '"place": "/etc/ld.so.preload"' capturectl doctor --json

# On.
it "what is served is said before" refused 64 'V4L2 is turned on: every program' setsid --wait capturectl lockdown on </dev/null
it "by program, too" grep -qE '^ffmpeg +V4L2 +as always, by the V4L2 library' "$work/refused"
it "and what is not" grep -qE '^statically +V4L2 +not reached: static' "$work/refused"
it "nothing was changed" eval 'same && [[ ! -e $default && ! -e /etc/captured/bridges ]]'
it "without the bridges, it leaves them alone" eval 'capturectl lockdown on --yes --no-bridges && same && [[ ! -e $default ]]'
it "the doctor tells who loses by that" says 'advice +bridges: the lockdown takes V4L2 programs their cameras' capturectl doctor
it "it is turned on with the bridges" refused 0 '^bridges: V4L2 on, ALSA on, ' capturectl lockdown on --yes
it "the library is in a line of its own, the others' are kept" cmp "$preload" <(printf '%s\n%s\n' "$others" "$library")
it "programs start without a word" quiet /bin/true
it "and have the library" loaded
it "status tells" says '^bridges: V4L2 on, ALSA on, ' capturectl lockdown status
it "the doctor, too" says 'ok +bridges: V4L2 programs come to captured by its library' capturectl doctor
it "ffmpeg streams, unchanged" streams
it "arecord records from its default device, unchanged" records
it "the history has both" eval 'says "ffmpeg.*synthetic:camera" uses && says "aplay.*synthetic:microphone" uses'
it "twice is once" eval 'capturectl lockdown on --yes && (($(grep -c libcaptured "$preload") == 1))'
it "setuid programs start, too" says '^su from' as alice su --version

# The library goes away.
mv "$library" "$work/kept.so"
it "without the library, every program complains" says 'cannot be preloaded' /bin/true
it "the doctor says so, with what mends it" says 'PROBLEM +bridges: .*which is missing: every program prints' capturectl doctor
it "it takes the line out" says 'no longer names' capturectl doctor --mend
it "nobody complains" quiet /bin/true
it "the others' lines are kept" same
mv "$work/kept.so" "$library"
it "the doctor says that the bridge is off" says 'advice +bridges: V4L2: the lockdown turned it on, but it is off' capturectl doctor
it "and turns it on again" says 'V4L2: .* now has every program load' capturectl doctor --mend
it "it is in every program again" loaded

# Off.
it "all is taken back" refused 0 '^bridges: V4L2 off, ALSA off, ' capturectl lockdown off
it "to the byte" same
it "ALSA's default is gone, and nothing is kept about it" eval '[[ ! -e $default && ! -e /etc/captured/bridges ]]'
it "nothing is left beside" no_rest

# What a person did, stays.
mine=$(printf '%s\n%s' "$others" "$library")
printf '%s' "$mine" >"$preload"
it "with a person's own line" eval 'capturectl lockdown on --yes && echo "# mine" >>$default && capturectl lockdown off'
it "the line stays" cmp "$preload" <(printf '%s' "$mine")
it "so does the file that they changed" grep -q '^# mine$' "$default"
rm "$default"

# It cannot be written.
printf '%s' "$others" >"$preload"
it "nobody can replace the file" mount --bind "$preload" "$preload"
it "that is said" refused 74 'cannot write /etc/ld.so.preload: ' capturectl lockdown on --yes
it "the machine is locked down, the other bridges are on" says 'bridges: V4L2 off, ALSA on' capturectl lockdown status
it "the file is whole" same
it "nothing is left beside" no_rest
it "the file can be replaced" umount "$preload"
it "it is turned on the next time" refused 0 '^bridges: V4L2 on' capturectl lockdown on --yes
it "a file that is a link is not followed" eval 'capturectl lockdown off && mv $preload /etc/there && ln -s there $preload &&
  refused 74 "it is a link" capturectl lockdown on --yes'
rm "$preload" /etc/there
capturectl lockdown off 2>/dev/null
it "a library that others can write is put into no program" eval \
  'chmod o+w $library && refused 77 "can be written by others" capturectl lockdown on --yes && [[ ! -e $preload ]]'
chmod o-w "$library"
cp "$library" "$work/kept.so" && echo "no library" >"$library"
it "nor is a file that is no library" eval 'refused 65 "is not put into all programs" capturectl lockdown on --yes && [[ ! -e $preload ]]'
cp "$work/kept.so" "$library"
it "where there was no file, one is made" eval 'capturectl lockdown on --yes && [[ $(<$preload) == "$library" ]]'
it "and removed again" eval 'capturectl lockdown off && [[ ! -e $preload ]]'
finish
