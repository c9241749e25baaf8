#!/bin/sh

test_description='of many writers of one ref, one wins and the others are told'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

writers=32
rounds=100

# race REF [OLD]: every version of the list 'ids' wants the ref at once; leaves a status per writer in the folder 'race'.
race() {
	rm -rf race &&
	mkdir race || return
	while read -r id
	do
		{
			fdl-update-ref "$1" "$id" ${2+"$2"} 2>"race/$id.err"
			echo $? >"race/$id"
		} &
	done <ids
	wait
}

# one_won REF: exactly one writer was successful, and the ref holds its version; to all others it was said who won.
one_won() {
	winner=$(cat "repo/$1") &&
	test "$(cat "race/$winner")" = 0 &&
	grep -lx 0 race/* >won &&
	test_line_count 1 won &&
	grep -lx 2 race/* >lost &&
	test_line_count $((writers - 1)) lost &&
	cat race/*.err >told &&
	test_line_count $((writers - 1)) told &&
	test "$(grep -c "^error: .$1. holds $winner" told)" = $((writers - 1))
}

test_expect_success 'as many versions as writers, all built on one' '
	fdl-create-repository repo &&
	base=$(write_version base) &&
	for i in $(seq $writers)
	do
		write_version "$i" --parent "$base" || return 1
	done >ids &&
	test_line_count $writers ids
'

test_expect_success "one of $writers moves a branch, $rounds times" '
	for round in $(seq $rounds)
	do
		fdl-update-ref "refs/heads/r$round" "$base" "" &&
		race "refs/heads/r$round" "$base" &&
		one_won "refs/heads/r$round" || return 1
	done
'

test_expect_success "one of $writers makes a branch" '
	for round in 1 2 3 4 5 6 7 8 9 10
	do
		race "refs/heads/new/r$round" "" &&
		one_won "refs/heads/new/r$round" || return 1
	done
'

test_expect_success "one of $writers makes a branch without saying that there is none" '
	race refs/heads/any &&
	one_won refs/heads/any
'

test_expect_success "of $writers that want the same, all are right" '
	fdl-update-ref refs/heads/same "$base" &&
	for i in $(seq $writers)
	do
		fdl-update-ref refs/heads/same "$winner" "$base" &
		pids="${pids-} $!"
	done &&
	for pid in $pids
	do
		wait "$pid" || return 1
	done &&
	test "$(cat repo/refs/heads/same)" = "$winner"
'

test_expect_success 'a ref is made while the last one beside it is deleted, and its folder with it' '
	for round in $(seq $rounds)
	do
		fdl-update-ref refs/heads/dir/a "$base" &&
		{ fdl-update-ref -d refs/heads/dir/a & } &&
		fdl-update-ref refs/heads/dir/b "$base" &&
		wait $! &&
		fdl-update-ref -d refs/heads/dir/b "$base" || return 1
	done &&
	test_path_is_missing repo/refs/heads/dir
'

test_expect_success 'refs.json has every branch after all its writers have written it' '
	while read -r id
	do
		{ fdl-update-ref "refs/tags/t$id" "$id" && fdl-update-server-info; } &
	done <ids &&
	wait &&
	fdl-for-each-ref refs/tags >tags &&
	test_line_count $writers tags &&
	test "$(grep -c "refs/tags/t" repo/refs.json)" = $writers
'

test_expect_success 'no temporary file is left' '
	find repo -name ".fdl-tmp-*" >left &&
	test_line_count 0 left
'

test_done
