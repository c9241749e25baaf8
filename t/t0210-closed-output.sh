#!/bin/sh

test_description='when nobody reads the output, a command ends with 141 and says nothing'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# unread COMMAND...: runs it with a standard output whose reader has gone; leaves 'status' and 'err'.
unread() {
	rm -f gone status
	{
		until test -e gone; do sleep 0.05; done
		"$@" 2>err
		echo $? >status
	} | {
		exec <&-
		: >gone
		until test -s status; do sleep 0.05; done
	}
}

# dies_quietly COMMAND...
dies_quietly() {
	unread "$@" &&
	test_line_count 0 err || return
	test "$(cat status)" = 141 || {
		echo "status $(cat status): $*"
		return 1
	}
}

test_expect_success 'commands that print end so' '
	write_three &&
	fdl-update-ref refs/heads/main "$three" &&
	echo key >keys &&
	printf "none\t1\n" >sizes &&
	dies_quietly fdl-ls-objects &&
	dies_quietly fdl-cat-object HEAD &&
	dies_quietly fdl-rev-list main &&
	dies_quietly fdl-rev-list --format medium --reverse main &&
	dies_quietly fdl-cat-version main &&
	dies_quietly fdl-for-each-ref &&
	dies_quietly fdl-resolve-ref main &&
	dies_quietly fdl-symbolic-ref HEAD &&
	dies_quietly fdl-repository-var id &&
	dies_quietly fdl-check-ref-format refs/heads/main &&
	dies_quietly fdl-rm-objects --help &&
	dies_quietly fdl-rm-objects --version
'

test_expect_success 'so do those that also read, and what they did is done' '
	echo x | fdl-put-object key &&
	dies_quietly sh -c "fdl-rm-objects <keys" &&
	test_path_is_missing repo/key &&
	dies_quietly sh -c "fdl-check-objects <sizes" &&
	echo x >key &&
	printf "data/key\tkey\t2\n" >list &&
	dies_quietly sh -c "fdl-send-files <list" &&
	test_path_is_file repo/data/key &&
	make_parts four &&
	dies_quietly write_parts -m four &&
	test "$(ls repo/versions | wc -l)" = 4
'

test_expect_success 'an error is an error all the same' '
	unread fdl-resolve-ref none &&
	test "$(cat status)" = 3 &&
	one_line err
'

test_expect_success 'a list of which only the head is read ends so too' '
	mkdir repo/many &&
	for i in $(seq 1000)
	do
		: >"repo/many/$(printf "%0150d" "$i")" || return 1
	done &&
	{ fdl-ls-objects many 2>err; echo $? >status; } | head -n 1 >first &&
	until test -s status; do sleep 0.05; done &&
	test_line_count 1 first &&
	test "$(cat status)" = 141 &&
	test_line_count 0 err
'

test_expect_success 'a standard error that nobody reads changes no exit status' '
	{ fdl-resolve-ref none 2>&1 >/dev/null; echo $? >status; } | : &&
	until test -s status; do sleep 0.05; done &&
	test "$(cat status)" = 3 &&
	test_expect_code 3 fdl-resolve-ref none 2>/dev/full &&
	test_expect_code 3 fdl-resolve-ref none 2>&-
'

test_expect_success 'a standard output that is closed is an error, not silence' '
	refused 6 "^error: cannot write to standard output" eval "fdl-resolve-ref main >/dev/full" &&
	refused 6 "^error: cannot write to standard output" eval "fdl-ls-objects many >/dev/full"
'

test_done
