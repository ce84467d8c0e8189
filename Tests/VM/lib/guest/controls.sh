# Tests/Controls/Subject, a program that goes through the typed controls of a camera.

# The program may use cameras.
allow_subject() {
  subject=$(realpath "$checkout/.build/release/capture-controls-subject") && mkdir -p /etc/captured/apps.d || return 1
  printf '%s\n' '[Desktop Entry]' "X-Capture-Program=exe:$subject" X-Capture-CameraUsageDescription=Tries \
    >/etc/captured/apps.d/subject.desktop
  capturectl auth set "exe:$subject" camera authorized
}
# walk_controls CAMERA COMMAND: with the command by which another program changes a control
walk_controls() { "$subject" "$1" "$2" >"$work/typed"; }
# typed CONTROL: its row, without a failure
typed() { grep "^$1 *|" "$work/typed" && fails grep "^$1 *|.*FAILED" "$work/typed"; }
