# The crates of THIRD-PARTY-NOTICES as paragraphs of a Debian copyright file, and a paragraph for each licence that they name.
# A crate's line is `NAME VERSION: LICENCE, by AUTHORS`; the lines below it that begin with spaces are its address. The list
# ends before the first licence's text.
function note(text,    count, names, i) {
	gsub(/,/, "", text)
	count = split(text, names, / (or|and) /)
	for (i = 1; i <= count; i++) licences[names[i]] = 1
}
/^-----/ { exit }
/^[A-Za-z0-9_.-]+ [0-9][^ ]*: / {
	name = $1
	version = $2
	sub(/:$/, "", version)
	rest = substr($0, length($1) + length($2) + 3)
	by = "the authors of " name
	if ((at = index(rest, ", by ")) > 0) {
		by = substr(rest, at + 5)
		rest = substr(rest, 1, at - 1)
	}
	# SPDX's expressions in Debian's words. A comma binds less than the rest.
	gsub("/", " OR ", rest)
	gsub(/\) AND /, ", and ", rest)
	gsub(/\) OR /, ", or ", rest)
	gsub(/ AND \(/, ", and ", rest)
	gsub(/ OR \(/, ", or ", rest)
	gsub(/[()]/, "", rest)
	gsub(/ OR /, " or ", rest)
	gsub(/ AND /, " and ", rest)
	gsub(/ WITH LLVM-exception/, "-with-LLVM-exception", rest)
	gsub(/  +/, " ", rest)
	printf "\nFiles: %s-%s/*\nCopyright: %s\nLicense: %s\n", name, version, by, rest
	note(rest)
	count++
}
END {
	if (count == 0) {
		print "copyright.awk: no crate is named: has the form of THIRD-PARTY-NOTICES changed?" >"/dev/stderr"
		exit 1
	}
	note("MIT or Apache-2.0")
	note("GPL-2.0-only")
	note("OFL-1.1")
	names = 0
	for (licence in licences) sorted[++names] = licence
	for (i = 2; i <= names; i++)
		for (j = i; j > 1 && sorted[j] < sorted[j - 1]; j--) {
			swap = sorted[j]
			sorted[j] = sorted[j - 1]
			sorted[j - 1] = swap
		}
	for (i = 1; i <= names; i++) {
		printf "\nLicense: %s\n", sorted[i]
		if (sorted[i] == "MIT") {
			# This project's text, after its title and its copyright.
			while ((getline line <mit) > 0)
				if (line ~ /^Permission/ || inside) {
					inside = 1
					print (line == "" ? " ." : " " line)
				}
			continue
		}
		if (sorted[i] == "Apache-2.0") place = texts "/Apache-2.0"
		else if (sorted[i] == "GPL-2.0-only") place = texts "/GPL-2"
		else if (sorted[i] == "LGPL-2.1-only") place = texts "/LGPL-2.1"
		else if (sorted[i] == "MPL-2.0") place = texts "/MPL-2.0"
		else place = "THIRD-PARTY-NOTICES.gz beside this file"
		printf " Its text is in %s.\n", place
	}
}
