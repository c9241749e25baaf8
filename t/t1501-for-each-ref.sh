#!/bin/sh

test_description='refs are listed'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# lists ARGUMENT...: standard input has the refs that are printed for them, without the ids.
lists() {
	fdl-for-each-ref "$@" >out &&
	cut -f 2 out >actual &&
	test_cmp - actual
}

test_expect_success 'a repository without refs has none to list' '
	fdl-create-repository repo &&
	fdl-for-each-ref >out &&
	test_line_count 0 out
'

test_expect_success 'each ref is listed with what it holds, in the order of the names' '
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	fdl-update-ref refs/heads/main "$two" &&
	fdl-update-ref refs/heads/a/b "$one" &&
	fdl-update-ref refs/heads/a-b "$one" &&
	fdl-update-ref refs/tags/v1 "$one" &&
	fdl-update-ref refs/remotes/origin/main "$two" &&
	cat >all <<-END &&
	$one	refs/heads/a-b
	$one	refs/heads/a/b
	$two	refs/heads/main
	$two	refs/remotes/origin/main
	$one	refs/tags/v1
	END
	fdl-for-each-ref >out &&
	test_cmp all out
'

test_expect_success 'a folder of refs is a PREFIX, with or without a slash' '
	printf "%s\n" refs/heads/a-b refs/heads/a/b refs/heads/main >expect &&
	lists refs/heads <expect &&
	lists refs/heads/ <expect &&
	echo refs/heads/a/b | lists refs/heads/a &&
	lists refs/heads/none </dev/null
'

test_expect_success 'the beginning of a name is no PREFIX, nor is anything else' '
	lists refs/heads/ma </dev/null &&
	lists refs/head </dev/null &&
	for prefix in heads versions refsx/heads HEAD
	do
		refused 128 "does not begin with .refs." fdl-for-each-ref $prefix || return 1
	done &&
	refused 128 "bad key" fdl-for-each-ref refs/../versions &&
	refused 128 "bad key" fdl-for-each-ref "" &&
	test_expect_code 129 fdl-for-each-ref refs/heads refs/tags
'

test_expect_success '-z ends records with NUL' '
	fdl-for-each-ref -z refs/tags >out &&
	printf "%s\trefs/tags/v1\0" "$one" >expect &&
	cmp expect out
'

test_expect_success 'a file that is no ref is none of ours, and stays' '
	: >repo/refs/heads/main.lock &&
	: >"repo/refs/heads/a copy of main" &&
	mkdir repo/refs/notes repo/refs/heads/empty &&
	cp repo/refs/heads/main repo/refs/notes/x &&
	cp repo/refs/heads/main repo/refs/x &&
	cp repo/refs/heads/main repo/refs/heads/.fdl-tmp-1 &&
	ln -s main repo/refs/heads/link &&
	mkfifo repo/refs/heads/fifo &&
	unchanged fdl-for-each-ref >out &&
	test_cmp all out
'

test_expect_success 'where a ref holds no id there is an error and no list' '
	echo nonsense >repo/refs/heads/b &&
	refused 128 "refs/heads/b. is damaged: it does not hold a version id" fdl-for-each-ref &&
	test_line_count 0 refused.out &&
	echo refs/tags/v1 | lists refs/tags &&
	rm repo/refs/heads/b
'

test_expect_success 'a ref that is a link is followed by no command' '
	refused 6 "is a symbolic link; fdl follows none" fdl-resolve-ref refs/heads/link &&
	refused 6 "is a symbolic link" fdl-update-ref refs/heads/link "$two" &&
	refused 6 "is not a regular file" fdl-resolve-ref fifo
'

test_done
