# JSON on standard input as one line for each fact: inputs.camera.published=199. Nothing for null. In awk, since the start of
# an interpreter that loads libraries is what costs on an emulated machine.
{ text = text $0 "\n" }
END {
  blank()
  if (text != "") value("")
  blank()
  if (text != "") broken()
}

function broken() { print "no JSON from here on: " substr(text, 1, 80) >"/dev/stderr"; exit 1 }
function blank() { sub(/^[ \t\r\n]+/, "", text) }
# take PATTERN: what the text begins with
function take(pattern,  found) {
  blank()
  if (!match(text, "^" pattern)) broken()
  found = substr(text, 1, RLENGTH)
  text = substr(text, RLENGTH + 1)
  return found
}
function begins(character) { blank(); return substr(text, 1, 1) == character }
function string(  found) {
  found = take("\"([^\"\\\\]|\\\\.)*\"")
  found = substr(found, 2, length(found) - 2)
  gsub(/\\n/, "\n", found); gsub(/\\t/, "\t", found); gsub(/\\"/, "\"", found); gsub(/\\\\/, "\\", found)
  return found
}
function value(name,  key, number, found) {
  if (begins("{")) {
    take("{")
    while (!begins("}")) {
      key = string()
      take(":")
      value(name == "" ? key : name "." key)
      if (!begins("}")) take(",")
    }
    take("}")
  } else if (begins("[")) {
    take("\\[")
    for (number = 0; !begins("]"); number++) {
      value(name == "" ? number : name "." number)
      if (!begins("]")) take(",")
    }
    take("\\]")
  } else if (begins("\"")) {
    print name "=" string()
  } else {
    found = take("[-+.0-9a-zA-Z]+")
    if (found != "null") print name "=" found
  }
}
