#!/bin/sh

test_description='fdl expire, fdl-plan-expire and fdl-expire-version: versions past retention'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

# dated ID DATE: the store took the version then.
dated() {
	touch -d "$2" "repo/versions/$1/version.json"
}

# names WORD: the messages of the versions that a plan has WORD for, in its order.
names() {
	sed -n "s/^$1	\([^	]*\).*/\1/p" plan >ids && while read -r id
	do
		fdl-cat-version --format %s "$id" || return 1
	done <ids | tr '\n' ' ' | sed 's/ $//'
}

# plans KEPT EXPIRED RULE...: what the rules keep, and what they do not.
plans() {
	kept=$1 gone=$2
	shift 2
	fdl-plan-expire "$@" >plan &&
	test "$(names keep)/$(names expire)" = "$kept/$gone"
}

# days: a repository with a branch of six versions, 'a' to 'f', and a side branch 'x' on 'b'.
# shellcheck disable=SC2154 # eval assigns them
days() {
	rm -rf repo && fdl-create-repository repo && parent='' &&
	for name in a b c d e f
	do
		parent=$(write_version "$name" ${parent:+--parent "$parent"}) && eval "$name=$parent" || return 1
	done &&
	x=$(write_version x --parent "$b") &&
	fdl-update-ref refs/heads/main "$f" && fdl-update-ref refs/heads/side "$x" && fdl-update-server-info &&
	dated "$a" '2025-12-30 10:00Z' && dated "$b" '2025-12-31 10:00Z' && dated "$c" '2026-01-01 10:00Z' &&
	dated "$d" '2026-01-01 11:00Z' && dated "$e" '2026-01-05 10:00Z' && dated "$f" '2026-02-01 10:00Z' &&
	dated "$x" '2026-01-01 12:00Z'
}

# wrong_usage PATTERN COMMAND...
wrong_usage() {
	pattern=$1
	shift
	test_expect_code 129 "$@" 2>err && test_grep "^fatal: $pattern" err
}

test_expect_success 'setup' 'days'

test_expect_success 'each rule keeps what it says of each branch, and what a ref holds is always kept' '
	plans "x f" "e d c b a" --keep-last 1 &&
	plans "x f e b" "d c a" --keep-last 2 &&
	plans "x f e d b a" "c" --keep-daily 4 &&
	plans "x f e" "d c b a" --keep-weekly 2 &&
	plans "x f e b" "d c a" --keep-monthly 2 &&
	plans "x f b" "e d c a" --keep-yearly 2 &&
	plans "x f" "e d c b a" --keep-within 24h &&
	plans "x f b" "e d c a" --keep-within 2d &&
	plans "x f e b a" "d c" --keep-within 28d &&
	plans "x f e b" "d c a" --keep-last 1 --keep-monthly 2
'

test_expect_success 'a plan says what keeps a version' '
	fdl-plan-expire --keep-last 2 --keep-yearly 1 >plan &&
	printf "keep\t%s\t%s\n" "$x" "side: last 2, side: yearly 1, refs/heads/side" >expect &&
	grep "$x" plan >actual &&
	test_cmp expect actual &&
	fdl-update-ref refs/tags/v1 "$c" &&
	fdl expire --dry-run --keep-last=1 repo >plan &&
	printf "keep\t%s\trefs/tags/v1\n" "$c" >expect &&
	grep "$c" plan >actual &&
	test_cmp expect actual &&
	fdl-update-ref -d refs/tags/v1
'

test_expect_success 'a plan and a dry run change nothing, and neither does a rule that is none' '
	unchanged fdl-plan-expire --keep-last 1 &&
	unchanged fdl expire -n --keep-last 1 repo &&
	unchanged sh -c "echo $a | fdl-expire-version --dry-run >out" &&
	unchanged wrong_usage "no rule says what is kept" fdl-plan-expire &&
	unchanged wrong_usage "no rule says what is kept, and nothing was taken away" fdl expire repo &&
	unchanged wrong_usage "unknown option .--keep-hourly." fdl-plan-expire --keep-hourly 1 &&
	unchanged wrong_usage ".*is not a number of versions" fdl expire --keep-last -1 repo &&
	unchanged wrong_usage ".*is not an age" fdl expire --keep-within=1 repo
'

test_expect_success 'an expired version loses its catalog, and readers are told why' '
	fdl expire --keep-monthly 2 -m "older than a year" repo >out 2>err &&
	sort out >actual &&
	printf "%s\n" "$a" "$c" "$d" | sort >expect &&
	test_cmp expect actual &&
	test_grep "3 versions are past retention, 4 are kept" err &&
	for id in $a $c $d
	do
		test_path_is_missing "repo/versions/$id/ducklake.duckdb" &&
		test_path_is_missing "repo/versions/$id/dataset.json" &&
		test_path_is_file "repo/versions/$id/files.json" &&
		refused 4 "is past retention since .*: older than a year" fdl url repo "$id" || return 1
	done &&
	fdl log repo >log &&
	grep "^version" log >listed &&
	test_line_count 6 listed
'

test_expect_success 'what was taken away counts for no rule, and is not taken away again' '
	plans "x f e b" "" --keep-last 3 &&
	unchanged fdl expire --keep-last 3 repo &&
	unchanged sh -c "echo $a | fdl-expire-version >out" &&
	test ! -s out
'

test_expect_success 'the settings are the rules where none is given' '
	days &&
	fdl config set expire.keepLast 1 &&
	fdl config set expire.keepMonthly 2 &&
	fdl expire --dry-run repo >plan &&
	test "$(names keep)" = "x f e b" &&
	fdl expire --dry-run --keep-yearly 2 repo >plan &&
	test "$(names keep)" = "x f b" &&
	rm -r .config
'

test_expect_success 'a version that a ref holds is not taken away, nor any other of the list' '
	printf "%s\n" "$a" "$f" >list &&
	unchanged refused 2 "refs/heads/main. holds version $f; nothing was taken away" fdl-expire-version <list &&
	fdl-update-ref refs/tags/v1 "$a" &&
	unchanged refused 2 "refs/tags/v1. holds version $a" fdl-expire-version <list &&
	fdl-update-ref -d refs/tags/v1
'

test_expect_success 'a list that is not one of versions changes nothing' '
	printf "%s\n" "$a" "$nowhere" >list &&
	unchanged refused 3 "version $nowhere is not in" fdl-expire-version <list &&
	printf "%s\n" "$a" main >list &&
	unchanged refused 128 ".main. is not a version id" fdl-expire-version <list &&
	printf "%s\n%s" "$a" "$b" >list &&
	unchanged refused 128 "was cut off" fdl-expire-version <list
'

test_expect_success 'killed after each write and run again, it is done; meanwhile each version is whole or says why not' - <<\END
	n=1 &&
	while :
	do
		days >/dev/null && printf '%s\n' "$a" "$c" >list && echo $n >left || return 1
		FDL_TEST_KILL_AFTER=$PWD/left setsid --wait fdl-expire-version <list >out
		status=$?
		for id in $a $b $c $d $e $f $x
		do
			test -e "repo/versions/$id/expired.json" || test -e "repo/versions/$id/ducklake.duckdb" || return 1
		done &&
		test $status != 0 || break
		test $status = 137 && fdl-expire-version <list >out || return 1
		for id in $a $c
		do
			test_path_is_file "repo/versions/$id/expired.json" &&
			test_path_is_missing "repo/versions/$id/ducklake.duckdb" || return 1
		done
		n=$((n + 1))
	done &&
	test $n -gt 5
END

test_expect_success 'while another run takes something away, nothing is' '
	days &&
	printf "{\"fdl\":\"1.0\",\"run\":\"other\",\"at\":\"2026-12-01T00:00:00Z\",\"files\":[]}" >repo/gc.json &&
	echo "$a" >list &&
	unchanged refused 75 "another gc or expire is at work" fdl-expire-version <list &&
	touch -d "61 minutes ago" repo/gc.json &&
	fdl-expire-version <list &&
	test_path_is_missing repo/gc.json
'

test_expect_success 'a mark that a killed run left on what a ref holds now is taken back' '
	days &&
	take_away "$a" expired "" &&
	echo "$a" >"repo/refs/heads/old" &&
	echo "$a" >list &&
	refused 2 "refs/heads/old. holds version $a" fdl-expire-version <list &&
	test_path_is_missing "repo/versions/$a/expired.json" &&
	fdl url repo old
'

test_expect_success 'a ref that comes to hold it between the mark and the second look: the mark is taken back' - <<\END
	days &&
	export FDL_REPO=s3://lakes/repo &&
	fdl-create-repository --like repo $FDL_REPO &&
	for id in $a $b
	do
		fdl-send-version --from repo "$id" || return 1
	done &&
	fdl-update-ref refs/heads/main "$b" &&
	start_faults &&
	echo "$a" >list &&
	echo "$a" >rules.other &&
	faults '1 replaced GET /lakes/repo/refs/heads/main' &&
	refused 2 "refs/heads/main. holds version $a; nothing was taken away" fdl-expire-version <list &&
	test_grep 'PUT .*expired.json' "$log" && test_grep 'DELETE .*expired.json' "$log" &&
	faults &&
	fdl-ls-objects "versions/$a" >out &&
	test_grep ducklake.duckdb out && ! grep expired.json out
END

test_expect_success 'in a bucket' - <<\END
	AWS_ENDPOINT_URL=http://127.0.0.1:$s3_port &&
	FDL_REPO=$TRASH_DIRECTORY/repo && days && FDL_REPO=s3://lakes/days &&
	fdl-create-repository --like repo $FDL_REPO &&
	for id in $a $b $c
	do
		fdl-send-version --from repo "$id" || return 1
	done &&
	fdl-update-ref refs/heads/main "$c" &&
	printf '%s\n' "$a" >expect &&
	fdl expire --keep-last 2 $FDL_REPO >actual &&
	test_cmp expect actual &&
	fdl-ls-objects "versions/$a" >out &&
	test_line_count 3 out &&
	refused 4 'past retention' fdl url $FDL_REPO "$a"
END

test_done
