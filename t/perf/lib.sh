# A folder of its own for a measurement, and a server that ends with it. Sourced after t/paths.
# shellcheck shell=sh disable=SC2154 # the script sets what is not set here

PATH=$FDL_TEST_PREFIX/bin:$PATH
server=''

die() {
	printf 'fatal: %s\n' "$1" >&2
	exit 1
}

test -x "$FDL_TEST_PREFIX/bin/fdl" || die "nothing is built: 't/setup' builds"
work=$(mktemp -d "${TMPDIR:-/tmp}/fdl-perf.XXXXXX") || exit 1
trap 'test -z "$server" || kill "$server"; rm -rf "$work"' 0
cd "$work" || exit 1

# wait_for FILE: until it is there and not empty.
wait_for() {
	tries=0
	while ! test -s "$1"
	do
		tries=$((tries + 1))
		test $tries -le 600 || die "the server did not start"
		sleep 0.1
	done
}
