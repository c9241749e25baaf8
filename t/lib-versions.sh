# Versions for tests that need no lake: the catalog is a header and nothing after it, the indexes are written by hand.
# Sourced after test-lib.sh. The commands work on the repository 'repo' in the trash folder.
# shellcheck shell=sh

FDL_REPO=$TRASH_DIRECTORY/repo
export FDL_REPO

# An id that is well formed, and of no version.
nowhere=01900000-0000-7000-8000-000000000000

# make_parts TEXT [FILES-JSON-LINES]: the three files a version is written from.
make_parts() {
	printf '01234567DUCK%s\n' "$1" >catalog &&
	printf '{"fdl":"1.0","files":[%s\n]}\n' "${2-}" >files.json &&
	printf '{"fdl":"1.0","ducklake":"1.0","schemas":[]}\n' >dataset.json
}

# write_parts OPTION...: writes a version from them and prints its id.
write_parts() {
	fdl-write-version --author "$FDL_AUTHOR" --catalog catalog --files files.json --dataset dataset.json "$@"
}

# write_version MESSAGE [OPTION...]: makes the parts, writes the version and prints its id.
write_version() {
	message=$1
	shift
	make_parts "$message" && write_parts -m "$message" "$@"
}

# write_three: the versions $one, $two and $three in 'repo', each built on the one before.
write_three() {
	fdl-create-repository repo &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	three=$(write_version three --parent "$two")
}

# forge ID FROM [SED-SCRIPT]: a version with this id, made from another one.
forge() {
	mkdir "repo/versions/$1" &&
	cp "repo/versions/$2"/* "repo/versions/$1" &&
	sed -e "s/\"id\": \".*\"/\"id\": \"$1\"/" -e "${3-}" "repo/versions/$2/version.json" \
		>"repo/versions/$1/version.json"
}

# take_away ID REASON MESSAGE: marks a version as expired or withdrawn.
take_away() {
	printf '{"fdl":"1.0","reason":"%s","at":"2026-12-01T12:34:56Z","message":"%s"}\n' "$2" "$3" \
		>"repo/versions/$1/expired.json"
}

# unchanged COMMAND...: the command leaves the repository as it was.
unchanged() {
	tree repo >before &&
	"$@" &&
	tree repo >after &&
	test_cmp before after
}

# all_refuse STATUS PATTERN LIST: each command of the list refuses so, and changes nothing.
all_refuse() {
	while read -r command
	do
		# shellcheck disable=SC2086 # a command and its arguments
		unchanged refused "$1" "$2" $command </dev/null || {
			echo "$command"
			return 1
		}
	done <"$3"
}
