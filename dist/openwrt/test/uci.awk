# The parser of the stand-in for uci: a state machine over characters.

BEGIN { quote = ""; words = 0; open = 0; bad = 0 }

function give_up(why) {
	bad = 1
	print "uci: Parse error (" why ") at line " NR ", byte 0" > "/dev/stderr"
	exit 1
}

function escaped(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

function complain(why) {
	if (!lenient) give_up(why)
}

function end_command(    i, id) {
	if (!words) return
	if (word[1] == "package") { words = 0; return }
	if (word[1] == "config" && words >= 2 && words <= 3 && word[2] ~ /^[!-~]+$/ && word[3] ~ /^[A-Za-z0-9_]*$/) {
		current = word[3] == "" ? sprintf("cfg%02x", ++anonymous) : word[3]
		if (!(current in type)) order[++sections] = current
		type[current] = word[2]
	} else if (word[1] ~ /^(option|list)$/ && (words == 2 || words == 3) && word[2] ~ /^[A-Za-z0-9_]+$/ && current != "") {
		id = current SUBSEP word[2]
		if (words == 3 && word[3] != "") {
			if (!(id in count)) name[current, ++options[current]] = word[2]
			if (word[1] == "option") count[id] = 0
			is_list[id] = word[1] == "list"
			value[id, ++count[id]] = word[3]
		} else if (word[1] == "option" && id in count) {
			count[id] = 0
		}
	} else {
		complain("invalid command")
	}
	for (i in word) delete word[i]
	words = 0
}

function add(char) {
	if (!open) { word[++words] = ""; open = 1 }
	word[words] = word[words] char
}

{
	text = $0
	for (at = 1; at <= length(text); at++) {
		char = substr(text, at, 1)
		if (quote == "'") {
			if (char == "'") quote = ""; else add(char)
		} else if (char == "\\") {
			if (at == length(text)) next
			add(substr(text, ++at, 1))
		} else if (quote == "\"") {
			if (char == "\"") quote = ""; else add(char)
		} else if (char == "'" || char == "\"") {
			add("")
			quote = char
		} else if (char == "#") {
			break
		} else if (char == ";") {
			open = 0
			end_command()
		} else if (char == " " || char == "\t" || char == "\r") {
			open = 0
		} else {
			add(char)
		}
	}
	if (quote != "") { add("\n"); next }
	open = 0
	end_command()
}

END {
	if (bad) exit 1
	if (quote != "") give_up("EOF with unterminated " quote)
	end_command()
	print "package " package
	for (s = 1; s <= sections; s++) {
		current = order[s]
		printf "\nconfig %s '%s'\n", type[current], current
		for (o = 1; o <= options[current]; o++) {
			id = current SUBSEP name[current, o]
			for (v = 1; v <= count[id]; v++)
				printf "\t%s %s %s\n", is_list[id] ? "list" : "option", name[current, o], escaped(value[id, v])
		}
	}
}
