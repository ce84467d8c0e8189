# Two people who may do nothing special: alice (1000) and bob (1001). Sourced by the host, for a machine's layer.
make_people() { # make_people FOLDER: from /etc to there
  local file number=1000 name
  for file in passwd group; do
    # The host may have given away their numbers, or their names.
    grep -vE '^(alice|bob):|^[^:]*:[^:]*:100[01]:' "/etc/$file" >"$1/$file.new"
  done
  for name in alice bob; do
    # No password, and so no need of an entry in the shadow: root becomes them by setpriv.
    echo "$name:*:$number:$number:$name:/home/$name:/bin/bash" >>"$1/passwd.new"
    echo "$name:x:$number:" >>"$1/group.new"
    number=$((number + 1))
  done
  for file in passwd group; do mv "$1/$file.new" "$1/$file"; done
}
