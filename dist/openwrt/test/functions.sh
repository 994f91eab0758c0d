# Stands in for OpenWrt's /lib/functions.sh in tests: the functions that this package uses, as
# OpenWrt's documentation describes them. `uci export` prints a configuration as commands, which are
# run here.

CONFIG_SECTIONS=

reset_cb() {
	config_cb() { :; }
	option_cb() { :; }
	list_cb() { :; }
}
reset_cb

package() { :; }

config() {
	CONFIG_SECTION=$2
	CONFIG_SECTIONS="$CONFIG_SECTIONS $2"
	config_set "$2" TYPE "$1"
	config_cb "$1" "$2"
}

option() {
	config_set "$CONFIG_SECTION" "$1" "$2"
	option_cb "$1" "$2"
}

list() {
	local count
	config_get count "$CONFIG_SECTION" "$1_LENGTH" 0
	count=$((count + 1))
	config_set "$CONFIG_SECTION" "$1_ITEM$count" "$2"
	config_set "$CONFIG_SECTION" "$1_LENGTH" "$count"
	list_cb "$1" "$2"
}

# A line that cannot be read is left out, without a word: as OpenWrt's, which calls `uci -S`.
config_load() {
	local commands status=0
	CONFIG_SECTIONS=
	CONFIG_SECTION=
	commands=$(uci -S -n export "$1" 2>/dev/null) || status=$?
	eval "$commands"
	[ -z "$CONFIG_SECTION" ] || config_cb
	return "$status"
}

config_set() {
	eval "CONFIG_$1_$2=\$3"
}

config_get() {
	eval "$1=\${CONFIG_$2_$3:-\$4}"
}

config_get_bool() {
	local said
	config_get said "$2" "$3" "$4"
	case $said in
		1 | on | true | yes | enabled) said=1 ;;
		0 | off | false | no | disabled) said=0 ;;
		*) said=$4 ;;
	esac
	eval "$1=\$said"
}

config_foreach() {
	local callback="$1" wanted="$2" section type
	shift 2
	for section in $CONFIG_SECTIONS; do
		config_get type "$section" TYPE
		[ "$type" != "$wanted" ] || "$callback" "$section" "$@"
	done
}

config_list_foreach() {
	local section="$1" name="$2" callback="$3" count at=1 item
	shift 3
	config_get count "$section" "${name}_LENGTH" 0
	while [ "$at" -le "$count" ]; do
		config_get item "$section" "${name}_ITEM$at"
		"$callback" "$item" "$@"
		at=$((at + 1))
	done
}

# The init scripts of a package, by the list of its files, which opkg writes and an apk brings. opkg
# calls a script by the package's name; apk's scripts set $pkgname.
init_scripts() {
	local name="${pkgname:-}"
	[ -n "$name" ] || name=$(basename "${1%.*}")
	cat "/usr/lib/opkg/info/$name.list" "/lib/apk/packages/$name.list" 2>/dev/null | sort -u | grep '^/etc/init.d/'
}

default_postinst() {
	local script
	for script in $(init_scripts "$1"); do
		[ "$PKG_UPGRADE" = 1 ] || "$script" enable
		"$script" start
	done
}

default_prerm() {
	local script
	for script in $(init_scripts "$1"); do
		[ "$PKG_UPGRADE" = 1 ] || "$script" disable
		"$script" stop
	done
}
