#!/bin/sh

test_description='the versions before a version are listed'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# lists SUBJECTS ARGUMENT...: these versions are listed, in this order.
lists() {
	wanted=$1
	shift
	fdl-rev-list --format %s "$@" >listed || return
	echo "$wanted" | tr ' ' '\n' | sed '/^$/d' >wanted
	test_cmp wanted listed
}

#     one - two - three        main
#              \
#               left - right   topic
test_expect_success 'a history that forks' '
	write_three &&
	left=$(write_version left --parent "$two") &&
	right=$(write_version right --parent "$left") &&
	alone=$(write_version alone) &&
	fdl-update-ref refs/heads/main "$three" &&
	fdl-update-ref refs/heads/topic "$right" &&
	fdl-update-ref refs/tags/first "$one" &&
	fdl-update-ref refs/remotes/origin/alone "$alone"
'

test_expect_success 'newest first, back to the first version' '
	printf "%s\n" "$three" "$two" "$one" >expect &&
	fdl-rev-list main >out &&
	test_cmp expect out &&
	lists "right left two one" topic &&
	lists "one" first
'

test_expect_success 'several lines are merged, each version once and before its parent' '
	lists "right left three two one" main topic &&
	lists "right left three two one" topic main main first &&
	lists "alone right left three two one" --all &&
	lists "alone right left three two one" --all main
'

test_expect_success '-n stops, --reverse turns what is left' '
	lists "three two" -n 2 main &&
	lists "two three" -n 2 --reverse main &&
	lists "one two three" --reverse main &&
	lists "three two one" -n 4 main &&
	lists "right left" -n 2 main topic &&
	lists "" -n 0 main
'

test_expect_success '-n wants a number' '
	for n in x -1 1.5 "" 99999999999999999999
	do
		test_expect_code 129 fdl-rev-list -n "$n" main 2>err &&
		test_grep "^fatal: .* is not a number that can be used here" err || return 1
	done
'

test_expect_success '^NAME leaves out that version and all before it' '
	lists "three" main "^$two" &&
	lists "three" main ^topic &&
	lists "right left" topic ^main &&
	lists "" main ^main &&
	lists "" first ^main &&
	lists "three two" main ^first ^refs/remotes/origin/alone
'

test_expect_success '^NAME hides what is before it also where another one cut the line' '
	lists "three" main ^topic ^first &&
	lists "right left" topic ^first ^main &&
	lists "" "$two" ^topic ^first &&
	lists "two left" --reverse -n 2 "$left" ^first
'

test_expect_success '-z ends records with NUL' '
	fdl-rev-list -z -n 2 main >out &&
	printf "%s\0%s\0" "$three" "$two" >expect &&
	cmp expect out
'

test_expect_success 'formats are those of fdl-cat-version' '
	for format in medium oneline json "%H %P %an %D"
	do
		fdl-rev-list --format "$format" main >out &&
		fdl-cat-version --format "$format" "$three" "$two" "$one" >expect &&
		test_cmp expect out || return 1
	done &&
	test_expect_code 129 fdl-rev-list --format %y main
'

test_expect_success 'a version that was taken away is listed, and what became of it' '
	take_away "$two" expired "" &&
	test_when_finished "rm repo/versions/$two/expired.json" &&
	rm "repo/versions/$two/ducklake.duckdb" &&
	fdl-rev-list --format "%s %E" main >out &&
	printf "%s\n" "three " "two expired" "one " >expect &&
	test_cmp expect out
'

test_expect_success 'a clock that is wrong puts no version before one that was built on it' '
	late=01ffffff-0000-7000-8000-000000000000 &&
	early=01000000-0000-7000-8000-000000000000 &&
	forge $late "$three" "s/\"three\"/\"late\"/" &&
	forge $early "$three" "s/\"three\"/\"early\"/;s/\"$two\"/\"$late\"/" &&
	lists "early late two one" $early &&
	lists "three early late two one" main $early $late &&
	lists "one two late early three" --reverse $late $early main &&
	lists "early" $early ^$late
'

test_expect_success 'a version that is not there is an error, not the end of the list' '
	cp -R repo cut &&
	rm -r "cut/versions/$one" &&
	refused 3 "version $one is not in" fdl-rev-list --repo cut main &&
	printf "%s\n" "$three" "$two" >expect &&
	test_cmp expect refused.out &&
	refused 3 "version $one is not in" fdl-rev-list --repo cut --reverse main &&
	test_line_count 0 refused.out &&
	refused 3 "version $one is not in" fdl-rev-list --repo cut main topic &&
	refused 3 "version $one is not in" fdl-rev-list --repo cut --all
'

test_expect_success 'what is excluded need not be there, as in a working repository after a push' '
	fdl-rev-list --repo cut main "^$one" >out &&
	test_cmp expect out &&
	fdl-rev-list --repo cut main "^$one" "^$alone" >out &&
	test_cmp expect out
'

test_expect_success 'a version that cannot be read is an error too' '
	echo "{" >"cut/versions/$two/version.json" &&
	refused 128 "$two/version.json. is damaged" fdl-rev-list --repo cut main &&
	refused 128 "$two/version.json. is damaged" fdl-rev-list --repo cut --reverse main ^topic
'

test_expect_success 'a version that is among those before it is told, and the list ends' '
	head=01922222-0000-7000-8000-00000000000a &&
	tail=01922222-0000-7000-8000-00000000000b &&
	forge $head "$two" "s/\"$one\"/\"$tail\"/" &&
	forge $tail "$two" "s/\"$one\"/\"$head\"/" &&
	refused 128 "version $head is its own ancestor" fdl-rev-list $head &&
	printf "%s\n" $head $tail >expect &&
	test_cmp expect refused.out &&
	refused 128 "version $head is its own ancestor" fdl-rev-list $head main &&
	refused 128 "version $tail is its own ancestor" fdl-rev-list $tail ^main &&
	refused 128 "version $head is its own ancestor" fdl-rev-list main ^$head &&
	refused 128 "is its own ancestor" fdl-resolve-ref $head~5 &&
	refused 128 "is its own ancestor" fdl-update-ref refs/heads/main $head
'

test_expect_success 'names that stand for nothing end the command before it prints' '
	refused 3 "neither a ref nor a version" fdl-rev-list main none &&
	test_line_count 0 refused.out &&
	refused 3 "neither a ref nor a version" fdl-rev-list main ^none &&
	refused 128 "bad ref name" fdl-rev-list main ^ &&
	test_expect_code 129 fdl-rev-list &&
	test_expect_code 129 fdl-rev-list -n 1
'

test_done
