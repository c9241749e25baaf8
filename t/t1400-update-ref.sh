#!/bin/sh

test_description='refs move on condition, and branches only forward'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

main=refs/heads/main

# holds REF ID
holds() {
	test "$(cat "repo/$1")" = "$2"
}

# lets_be STATUS PATTERN ARGUMENT...: the update is refused and the repository stays as it is.
lets_be() {
	unchanged refused "$1" "$2" fdl-update-ref "$3" "$4" ${5+"$5"} ${6+"$6"}
}

test_expect_success 'versions to point at: three in a line, and one beside it' '
	write_three &&
	beside=$(write_version beside --parent "$one") &&
	gone=$(write_version gone --parent "$three") &&
	withdrawn=$(write_version withdrawn --parent "$three") &&
	take_away "$gone" expired "kept for a year" &&
	take_away "$withdrawn" withdrawn ""
'

test_expect_success 'a ref is made' '
	fdl-update-ref $main "$one" &&
	holds $main "$one" &&
	test "$(wc -c <repo/$main)" = 37
'

test_expect_success 'a ref that holds the version already is left alone' '
	unchanged fdl-update-ref $main "$one" &&
	unchanged fdl-update-ref $main "$one" "" &&
	unchanged fdl-update-ref $main "$one" "$two"
'

test_expect_success 'a branch moves to any version that comes after, not only to the next one' '
	fdl-update-ref $main "$three" "$one" &&
	holds $main "$three"
'

test_expect_success 'a branch moves neither back nor aside' '
	lets_be 2 "no ancestor of $one; a branch moves forward only" $main "$one" &&
	lets_be 2 "no ancestor of $two" $main "$two" "$three" &&
	lets_be 2 "no ancestor of $beside" $main "$beside"
'

test_expect_success 'a ref that does not hold OLD stays, and what it holds is told' '
	fdl-update-ref refs/heads/next "$one" &&
	lets_be 2 "^error: .refs/heads/next. holds $one now" refs/heads/next "$three" "$two" &&
	lets_be 2 "holds $one now" refs/heads/next "$three" "$nowhere"
'

test_expect_success 'an empty OLD wants no such ref' '
	lets_be 2 "holds $one now" refs/heads/next "$two" "" &&
	fdl-update-ref refs/heads/fresh "$two" "" &&
	holds refs/heads/fresh "$two"
'

test_expect_success 'OLD wants a ref that is there' '
	lets_be 2 "does not exist any more" refs/heads/none "$two" "$one" &&
	test_path_is_missing repo/refs/heads/none
'

test_expect_success 'a tag never moves, not even forward' '
	fdl-update-ref refs/tags/v1 "$one" &&
	lets_be 2 "a tag never moves" refs/tags/v1 "$two" &&
	lets_be 2 "a tag never moves" refs/tags/v1 "$two" "$one" &&
	unchanged fdl-update-ref refs/tags/v1 "$one"
'

test_expect_success 'a ref of a remote goes wherever the remote went' '
	fdl-update-ref refs/remotes/origin/main "$three" &&
	fdl-update-ref refs/remotes/origin/main "$beside" "$three" &&
	holds refs/remotes/origin/main "$beside" &&
	lets_be 2 "holds $beside now" refs/remotes/origin/main "$one" "$three"
'

test_expect_success 'no ref holds a version that is not there, or not complete' '
	half=$(write_version half --parent "$three") &&
	rm "repo/versions/$half/version.json" &&
	for id in $nowhere "$half"
	do
		lets_be 3 "version $id is not in" $main "$id" &&
		lets_be 3 "version $id is not in" refs/tags/v2 "$id" || return 1
	done
'

test_expect_success 'no ref holds a version that was taken away' '
	lets_be 4 "version $gone is past retention since 2026-12-01T12:34:56Z: kept for a year" $main "$gone" &&
	lets_be 4 "version $withdrawn was withdrawn" refs/tags/v2 "$withdrawn" &&
	test_path_is_missing repo/refs/tags/v2 &&
	FDL_TRACE="$PWD/trace" test_must_fail fdl-update-ref refs/tags/v2 "$withdrawn" &&
	test_grep "^GET versions/$withdrawn/expired.json	ok" trace &&
	test_must_fail grep "^PUT" trace
'

test_expect_success 'no ref holds a version of another repository' '
	forge 01900000-0000-7000-8000-00000000000a "$one" "s/\"repository\": \".*\"/\"repository\": \"$nowhere\"/" &&
	lets_be 5 "belongs to repository $nowhere" refs/heads/foreign 01900000-0000-7000-8000-00000000000a
'

test_expect_success 'what is no version id is bad input' '
	for id in "" main "$(printf %.35s "$one")" "$one " 9d3f1c7e-4a57-4d52-9c0e-1f6a5f0f2f11 "$(echo "$one" | tr a-f0 A-F1)"
	do
		lets_be 128 "is not a version id" $main "$id" || return 1
	done &&
	lets_be 128 "is not a version id" $main "$three" two
'

test_expect_success 'a name that may be no ref is refused' '
	for name in main refs/heads/ refs/notes/a refs/heads/../../fdl.json HEAD refs/heads/a.lock
	do
		lets_be 128 "bad ref name" "$name" "$one" || return 1
	done
'

test_expect_success 'no ref lies below another' '
	fdl-update-ref refs/heads/a/b "$one" &&
	lets_be 128 "cannot make .refs/heads/a/b/c.: .refs/heads/a/b. exists" refs/heads/a/b/c "$one" &&
	lets_be 128 "cannot make .refs/heads/a.: .refs/heads/a/b. exists" refs/heads/a "$one" &&
	fdl-update-ref refs/heads/a/c "$one" &&
	fdl-update-ref refs/tags/a "$one"
'

test_expect_success 'no ref differs from another only in case' '
	lets_be 128 "differs from .refs/heads/main. only in case" refs/heads/Main "$one" &&
	lets_be 128 "only in case" refs/heads/A/B "$one"
'

test_expect_success 'a deleted ref is gone, and a name above it is free again' '
	fdl-update-ref -d refs/heads/a/b "$one" &&
	test_path_is_missing repo/refs/heads/a/b &&
	lets_be 128 "refs/heads/a/c. exists" refs/heads/a "$one" &&
	fdl-update-ref -d refs/heads/a/c &&
	fdl-update-ref refs/heads/a "$one" ""
'

test_expect_success 'the last branch may go, and another may come' '
	fdl-create-repository other &&
	FDL_REPO=other fdl-update-ref refs/remotes/x "$one" &&
	FDL_REPO=other fdl-update-ref -d refs/remotes/x &&
	FDL_REPO=other fdl-update-ref refs/remotes/y "$one"
'

test_expect_success 'a ref is not deleted when it holds another version, or is to be none' '
	lets_be 2 "holds $one now" -d refs/heads/a "$two" &&
	lets_be 2 "holds $one now" -d refs/heads/a "" &&
	lets_be 128 "is not a version id" -d refs/heads/a main
'

test_expect_success 'a ref that is not there is not deleted' '
	lets_be 3 ".refs/heads/none. does not exist in" -d refs/heads/none &&
	lets_be 3 "does not exist in" -d refs/heads/none "$one"
'

test_expect_success 'a folder full of something else is no ref, and nothing waits for it to go' '
	mkdir -p repo/refs/heads/full &&
	: >"repo/refs/heads/full/a b" &&
	lets_be 6 "cannot write .refs/heads/full.*: Is a directory" refs/heads/full "$one"
'

test_expect_success 'a ref that holds no id is told, and neither moved nor deleted' '
	for content in "" "$one" "$one$newline$newline" main "$(printf "%s\r\n" "$one")"
	do
		printf "%s" "$content" >repo/refs/heads/damaged &&
		lets_be 128 "refs/heads/damaged. is damaged" refs/heads/damaged "$two" "$one" &&
		lets_be 128 "refs/heads/damaged. is damaged" -d refs/heads/damaged || return 1
	done &&
	printf "%065d" 0 >repo/refs/heads/damaged &&
	lets_be 128 "refs/heads/damaged.* is larger than 64 bytes" refs/heads/damaged "$two" &&
	rm repo/refs/heads/damaged
'

test_expect_success 'a repository with a feature that is not known is not written to' '
	cp repo/fdl.json fdl.json &&
	test_when_finished "cp fdl.json repo/fdl.json" &&
	sed "s/\"features\": \[\]/\"features\": [\"shards\"]/" fdl.json >repo/fdl.json &&
	lets_be 128 "needs the feature .shards." refs/heads/feature "$one" &&
	lets_be 128 "needs the feature .shards." -d $main
'

test_expect_success 'half a command line is wrong usage' '
	test_expect_code 129 fdl-update-ref $main &&
	test_expect_code 129 fdl-update-ref $main "$one" "$two" "$three" &&
	test_expect_code 129 fdl-update-ref -d &&
	test_expect_code 129 fdl-update-ref -d $main "$one" "$two" &&
	test_expect_code 129 fdl-update-ref --stdin $main &&
	test_expect_code 129 fdl-update-ref --stdin -d &&
	test_expect_code 129 fdl-update-ref --force $main "$one"
'

test_done
