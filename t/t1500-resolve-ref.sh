#!/bin/sh

test_description='from a name to a version'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

alike_a=01900000-1111-7000-8000-00000000000a
alike_b=01900000-1111-7000-8000-00000000000b

# is ID NAME...: each name stands for this version.
is() {
	wanted=$1
	shift
	for name
	do
		found=$(fdl-resolve-ref "$name") || return
		test "$found" = "$wanted" || {
			echo "$name is $found, not $wanted"
			return 1
		}
	done
}

# nothing NAME...: each is a name that stands for nothing, and --or-none says so without an error.
nothing() {
	for name
	do
		refused 3 "^error: .*$name.* is neither a ref nor a version of " fdl-resolve-ref "$name" &&
		fdl-resolve-ref --or-none "$name" >out || return 1
		test ! -s out || return 1
	done
}

test_expect_success 'a history with a branch, a tag, a remote branch and two ids that begin alike' '
	write_three &&
	forge $alike_a "$one" &&
	forge $alike_b "$one" &&
	fdl-update-ref refs/heads/main "$three" &&
	fdl-update-ref refs/heads/topic/x "$two" &&
	fdl-update-ref refs/tags/v1 "$one" &&
	fdl-update-ref refs/remotes/origin/main "$two"
'

test_expect_success 'HEAD, full names and short ones stand for what the ref holds' '
	is "$three" HEAD main refs/heads/main &&
	is "$two" topic/x refs/heads/topic/x refs/remotes/origin/main &&
	is "$one" v1 refs/tags/v1
'

test_expect_success 'an id stands for itself, whether the version is there or not' '
	is "$two" "$two" &&
	is $nowhere $nowhere
'

test_expect_success 'the beginning of an id is enough where no other id begins so' '
	is "$two" "${two%?}" "${two%??}" &&
	nothing 01900000-2 "${two%?}z" 01900000-1111-7000-8000-00000000001
'

test_expect_success 'a beginning that several ids have is refused, and they are named' '
	for prefix in 0190 01900000-1111-7000-8000-00000000000
	do
		refused 128 "^fatal: .$prefix. is ambiguous: it begins $alike_a, $alike_b$" fdl-resolve-ref $prefix ||
		return 1
	done &&
	refused 128 "is ambiguous" fdl-resolve-ref --or-none 0190
'

test_expect_success 'less than four characters are no beginning of an id' '
	nothing 019 0 f
'

test_expect_success 'a folder without a version.json is no version' '
	half=01911111-0000-7000-8000-000000000000 &&
	mkdir repo/versions/$half &&
	nothing 01911111 &&
	echo x >repo/versions/$half/ducklake.duckdb &&
	nothing 01911111 &&
	is $half $half &&
	refused 3 "version $half is not in" fdl-resolve-ref --live $half
'

test_expect_success 'a version that cannot be read is not taken for the end of history' '
	forge 01911111-0000-7000-8000-00000000000a "$three" "s/$two/$nowhere/" &&
	refused 3 "version $nowhere is not in" fdl-resolve-ref 01911111-0000-7000-8000-00000000000a~2 &&
	cp "repo/versions/$two/version.json" kept &&
	echo "{" >"repo/versions/$two/version.json" &&
	refused 128 "version.json. is damaged" fdl-resolve-ref main~2 &&
	refused 128 "version.json. is damaged" fdl-resolve-ref --or-none main~2 &&
	cp kept "repo/versions/$two/version.json"
'

test_expect_success '"~" and "~N" go back' '
	is "$three" HEAD~0 &&
	is "$two" HEAD~ HEAD~1 main~1 "$three~" topic/x~0 "${three%?}~" &&
	is "$one" HEAD~2 refs/heads/topic/x~1
'

test_expect_success 'there is nothing before the first version' '
	refused 3 ".HEAD~3. does not exist: the history of .HEAD. is shorter" fdl-resolve-ref HEAD~3 &&
	refused 3 "is shorter" fdl-resolve-ref v1~18446744073709551615 &&
	refused 3 "version $nowhere is not in" fdl-resolve-ref $nowhere~ &&
	nothing none &&
	test -z "$(fdl-resolve-ref --or-none HEAD~3)"
'

test_expect_success 'after "~" comes a number and nothing else' '
	for name in HEAD~x HEAD~-1 HEAD~1~1 HEAD~~ HEAD~1x HEAD~18446744073709551616 "HEAD~ 1"
	do
		refused 128 "^fatal: bad name .$name.: after .~. comes a number" fdl-resolve-ref "$name" || return 1
	done
'

test_expect_success 'names that stand for nothing' '
	nothing none v2 mains Main head topic x refs/heads/none refs/tags/main deadbeef
'

test_expect_success 'names that can stand for nothing are refused' '
	for name in "" / refs/ refs/heads ../main "main " "a b" "^main" "main^" refs/notes/a -- main.lock
	do
		unchanged refused 128 "^fatal: bad ref name" fdl-resolve-ref -- "$name" || return 1
	done &&
	refused 128 "^fatal: .*u{1b}" fdl-resolve-ref "$(printf "\033[2J")"
'

test_expect_success 'a name that is a branch and a tag is refused with both, and either full name will do' '
	fdl-update-ref refs/tags/main "$one" &&
	test_when_finished "fdl-update-ref -d refs/tags/main" &&
	refused 128 ".main. is ambiguous: it is .refs/heads/main. and .refs/tags/main." fdl-resolve-ref main &&
	is "$three" refs/heads/main HEAD &&
	is "$one" refs/tags/main
'

test_expect_success 'a branch whose name looks like the beginning of an id is found first' '
	fdl-update-ref refs/heads/0190 "$one" &&
	is "$one" 0190
'

test_expect_success '--etag adds the tag of the ref, by which the ref can be written' '
	fdl-resolve-ref --etag topic/x >out &&
	printf "%s\t\"%s\"\n" "$two" "$(sha256sum <repo/refs/heads/topic/x | cut -d " " -f 1)" >expect &&
	test_cmp expect out &&
	echo "$three" | fdl-put-object --if-match "$(cut -f 2 out)" refs/heads/topic/x &&
	echo "$one" >new &&
	refused 2 "does not match" fdl-put-object --if-match "$(cut -f 2 out)" refs/heads/topic/x <new &&
	test "$(fdl-resolve-ref --etag $nowhere)" = $nowhere
'

test_expect_success '--live wants a version that is there and was not taken away' '
	test "$(fdl-resolve-ref --live main)" = "$three" &&
	refused 3 "version $nowhere is not in" fdl-resolve-ref --live $nowhere &&
	take_away "$three" expired "kept for a year" &&
	take_away "$one" withdrawn "" &&
	refused 4 "version $three is past retention since 2026-12-01T12:34:56Z: kept for a year" \
		fdl-resolve-ref --live main &&
	refused 4 "version $one was withdrawn since" fdl-resolve-ref --live v1 &&
	refused 4 "past retention" fdl-resolve-ref --live --or-none main
'

test_expect_success 'without --live a version that was taken away has its name still' '
	is "$three" main &&
	is "$one" v1 HEAD~2
'

test_expect_success 'an expired.json that cannot be read does not pass for none' '
	echo "{" >"repo/versions/$two/expired.json" &&
	refused 128 "expired.json. is damaged" fdl-resolve-ref --live "$two"
'

test_expect_success 'a repository without versions' '
	fdl-create-repository empty &&
	refused 3 "HEAD names .refs/heads/main., which holds no version yet" fdl-resolve-ref --repo empty HEAD &&
	fdl-resolve-ref --repo empty --or-none HEAD >out &&
	test_line_count 0 out &&
	refused 3 "is neither a ref nor a version" fdl-resolve-ref --repo empty main
'

test_expect_success 'one NAME is wanted' '
	test_expect_code 129 fdl-resolve-ref &&
	test_expect_code 129 fdl-resolve-ref main main &&
	test_expect_code 129 fdl-resolve-ref --dead main
'

test_done
