#!/bin/sh

test_description='FDL_TRACE shows each request to a store'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# but_time FILE: its lines with the times replaced, which must be there.
but_time() {
	test "$(grep -c '	[0-9]*\.[0-9] ms\(	\|$\)' "$1")" = "$(wc -l <"$1")" &&
	sed 's/	[0-9]*\.[0-9] ms/	TIME/' "$1"
}

test_expect_success 'a line has method and key, answer, bytes, time and condition' '
	fdl-create-repository repo &&
	size=$(wc -c <repo/fdl.json) &&
	echo one | FDL_TRACE=1 fdl-put-object --if-none-match a/b 2>trace &&
	but_time trace >actual &&
	printf "GET fdl.json\tok\t%s\tTIME\nPUT a/b\tok\t4\tTIME\tIf-None-Match: *\n" "$size" >expect &&
	test_cmp expect actual
'

test_expect_success 'an answer that is no, and one that is an error' '
	tag="\"$(sha256sum <repo/a/b | cut -d " " -f 1)\"" &&
	echo two | FDL_TRACE="$PWD/trace.no" test_expect_code 2 fdl-put-object --if-none-match a/b &&
	echo two | FDL_TRACE="$PWD/trace.no" test_expect_code 0 fdl-put-object --if-match "$tag" a/b &&
	echo two | FDL_TRACE="$PWD/trace.no" test_expect_code 6 fdl-put-object a &&
	FDL_TRACE="$PWD/trace.no" test_expect_code 3 fdl-cat-object none &&
	echo none | FDL_TRACE="$PWD/trace.no" fdl-rm-objects &&
	printf "a/b\t4\n" | FDL_TRACE="$PWD/trace.no" fdl-check-objects --settle &&
	FDL_TRACE="$PWD/trace.no" fdl-ls-objects a &&
	but_time trace.no | grep -v fdl.json >actual &&
	printf "%s\tTIME\t%s\n" "PUT a/b	refused	4" "If-None-Match: *" "PUT a/b	ok	4" "If-Match: $tag" >expect &&
	printf "%s\tTIME\n" "PUT a	failed	0" "GET none	absent	0" "DELETE none	absent	0" \
		"GET gc.json	absent	0" "HEAD a/b	ok	0" "SYNC a/b	ok	0" "LIST a/	ok	0" >>expect &&
	test_cmp expect actual
'

test_expect_success 'lines are appended to a file, by several at once, and none is torn' '
	for i in $(seq 16)
	do
		{ FDL_TRACE="$PWD/trace.all" fdl-ls-objects >out.$i & } || return 1
	done &&
	wait &&
	test_line_count 32 trace.all &&
	but_time trace.all >out &&
	test "$(grep -c "^GET fdl.json	ok	" trace.all)" = 16 &&
	test "$(grep -c "^LIST 	ok	" trace.all)" = 16
'

test_expect_success 'unset, empty and 0 trace nothing' '
	FDL_TRACE= fdl-ls-objects >out 2>err &&
	test_line_count 0 err &&
	FDL_TRACE=0 fdl-ls-objects >out 2>err &&
	test_line_count 0 err &&
	test_path_is_missing 0
'

test_expect_success 'a file that cannot be written is told, and the command goes on' '
	FDL_TRACE="$PWD/none/trace" fdl-cat-object a/b >out 2>err &&
	echo two >expect &&
	test_cmp expect out &&
	test_grep "^warning: cannot trace to .*/none/trace.: No such file or directory" err &&
	test_grep "^GET a/b	ok	4" err &&
	FDL_TRACE=/dev/full fdl-cat-object a/b >out 2>err &&
	test_cmp expect out &&
	test_line_count 0 err
'

test_expect_success 'both stores of a command are traced' '
	one=$(write_version one) &&
	fdl-create-repository --like repo copy &&
	FDL_TRACE=1 fdl-send-version --repo copy --from repo "$one" 2>trace &&
	test "$(grep -c "^GET fdl.json	ok" trace)" = 2 &&
	test "$(grep -c "^PUT versions/$one/" trace)" = 4
'

test_done
