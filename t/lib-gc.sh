# Versions that name data files, for tests of what nothing needs. Sourced after lib-versions.sh.
# shellcheck shell=sh disable=SC2034 # the tests use what is set here

# path N: the path of a data file below the data folder.
path() {
	printf 'main/t/ducklake-00000000-0000-7000-8000-%012d.parquet' "$1"
}

# names N...: the entries of a files.json that names these data files.
names() {
	separator=''
	for n
	do
		printf '%s\n{"path":"%s","size":4,"kind":"data"}' "$separator" "$(path "$n")"
		separator=,
	done
}

# data N...: makes these data files.
data() {
	mkdir -p repo/data/main/t &&
	for n
	do
		echo "$n  " | head -c 4 >"repo/data/$(path "$n")" || return 1
	done
}

# version MESSAGE NAMES [OPTION...]: a version that names these data files; prints its id.
version() {
	make_parts "$1" "$2" && message=$1 && shift 2 && write_parts -m "$message" "$@"
}

# line: the versions $one, $two and $three on main, which name the files 1, 1 and 2, 2 and 3; $side is built on $two, names
# 2 and 4, and no ref leads to it; nothing names 5.
line() {
	rm -rf repo && fdl-create-repository repo && data 1 2 3 4 5 &&
	one=$(version one "$(names 1)") &&
	two=$(version two "$(names 1 2)" --parent "$one") &&
	three=$(version three "$(names 2 3)" --parent "$two") &&
	side=$(version side "$(names 2 4)" --parent "$two") &&
	fdl-update-ref refs/heads/main "$three" && fdl-update-server-info
}
