# Reads the example configuration of `soundingd run`, and prints the facts that uci-to-toml cannot know by itself:
#
#     SECTION KEY KIND     a key that is no text: bool, number, list, or map (of numbers)
#     SECTION - TABLE      a table within a section, and the name of its section in UCI
#
# A key counts whether the example sets it or only mentions it behind "# ".

function kind(value) {
	if (value ~ /^(true|false)$/) return "bool"
	if (value ~ /^[-+]?[0-9][0-9A-Za-z_.+-]*$/) return "number"
	if (value ~ /^\[.*\]$/) return "list"
	if (value ~ /^"[^"]*"$/) return "text"
	return ""
}

{
	line = $0
	sub(/^# /, "", line)
}

line ~ /^\[\[?[a-z_.]+\]?\]$/ {
	table = line
	gsub(/[][]/, "", table)
	section = table
	if (gsub(/\./, "_", section)) inner[section] = table
	next
}

# A key in quotes is the user's own: the table is a map.
line ~ /^"[^"]*" = / && kind(substr(line, index(line, " = ") + 3)) == "number" {
	parts = split(table, name, ".")
	if (parts == 2 && section in inner) {
		delete inner[section]
		print name[1], name[2], "map"
	}
	next
}

line ~ /^[a-z_]+ = / {
	key = line
	sub(/ = .*/, "", key)
	found = kind(substr(line, length(key) + 4))
	if (found == "") next
	if (section == "") { print "keys.awk: line " NR ": a key before any section: " key > "/dev/stderr"; exit 1 }
	keys++
	if (found != "text") print section, key, found
}

END {
	for (section in inner) print section, "-", inner[section]
	if (!keys) { print "keys.awk: the example has no keys" > "/dev/stderr"; exit 1 }
}
