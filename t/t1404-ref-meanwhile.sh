#!/bin/sh

test_description='what happens to a ref or its version while it is being moved'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

main=refs/heads/main

# meanwhile STATUS COMMANDS NEW: moves main from $one to NEW; when all checks are done, but before it is written, COMMANDS
# are run. The store's lock is what the move then waits for.
meanwhile() {
	rm -f trace
	left=1200
	echo "$one" >"repo/$main"
	exec 9>>repo/.fdl-lock
	flock 9 || return
	FDL_TRACE=$PWD/trace fdl-update-ref "$main" "$3" "$one" 2>err 9>&- &
	until grep "^GET versions/$3/expired.json	absent" trace >found 2>&1 && ls repo/refs/heads/.fdl-tmp-* >found 2>&1
	do
		left=$((left - 1))
		test "$left" -gt 0 || return
		sleep 0.05
	done
	eval "$2" 9>&- || return
	exec 9>&-
	test_expect_code "$1" wait $!
}

# holds ID
holds() {
	test "$(cat "repo/$main")" = "$1"
}

test_expect_success 'a history' '
	write_three &&
	beside=$(write_version beside --parent "$one") &&
	fdl-update-ref $main "$one"
'

test_expect_success 'nothing: the branch is moved' '
	meanwhile 0 : "$two" &&
	test_line_count 0 err &&
	holds "$two"
'

test_expect_success 'another writer moved it aside: that one has won' '
	meanwhile 2 "echo $beside >repo/$main" "$two" &&
	one_line err &&
	test_grep "^error: .$main. holds $beside now: another writer was first" err &&
	holds "$beside"
'

test_expect_success 'another writer moved it to the same version: it is moved' '
	meanwhile 0 "echo $two >repo/$main" "$two" &&
	holds "$two"
'

test_expect_success 'another writer moved it to a version that comes after: it is moved, and stays there' '
	meanwhile 0 "echo $three >repo/$main" "$two" &&
	test_line_count 0 err &&
	holds "$three"
'

test_expect_success 'another writer deleted it: it is not made again' '
	meanwhile 2 "rm repo/$main" "$two" &&
	test_grep "^error: .$main. does not exist any more: another writer deleted it" err &&
	test_path_is_missing repo/$main
'

test_expect_success 'what it holds cannot be read any more: it is not known whether it was moved' '
	meanwhile 75 "echo nonsense >repo/$main" "$two" &&
	one_line err &&
	test_grep "^error: it is not known whether .$main. was moved to $two: .* is damaged" err &&
	test_grep "^hint: nothing was cleaned up; run the same command again" err &&
	test "$(cat repo/$main)" = nonsense
'

test_expect_success 'the version was expired: the branch is taken back' '
	meanwhile 4 "take_away $two expired \"too old\"" "$two" &&
	one_line err &&
	test_grep "^error: .$main. was not moved: version $two is past retention since .*: too old" err &&
	test_grep "^PUT $main	ok" trace &&
	holds "$one"
'

test_expect_success 'a move that was cut off before it looked for the mark is taken back when it is run again' '
	rm -rf repo && write_three &&
	fdl-update-ref $main "$one" && take_away "$two" expired "" &&
	echo "$two" >repo/$main &&
	refused 4 "was not moved: version $two is past retention" fdl-update-ref $main "$two" "$one" &&
	holds "$one" &&
	echo "$two" >repo/$main &&
	unchanged refused 4 "version $two is past retention" fdl-update-ref $main "$two" &&
	unchanged refused 4 "version $two is past retention" fdl-update-ref $main "$two" "$three" &&
	mkdir -p repo/refs/tags && echo "$two" >repo/refs/tags/v1 &&
	refused 4 "was not moved" fdl-update-ref refs/tags/v1 "$two" "" &&
	test_path_is_missing repo/refs/tags/v1 &&
	take_away "$one" expired "" &&
	echo "$two" >repo/$main &&
	refused 4 "was moved back, but: version $one is past retention" fdl-update-ref $main "$two" "$one" &&
	holds "$one"
'

test_done
