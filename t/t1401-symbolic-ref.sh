#!/bin/sh

test_description='HEAD names a branch'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# head_is CONTENT: makes it the content of HEAD.
head_is() {
	printf '%b' "$1" >repo/HEAD
}

test_expect_success 'a new repository names main, or the branch that is asked for' '
	fdl-create-repository repo &&
	test "$(fdl-symbolic-ref HEAD)" = refs/heads/main &&
	fdl-create-repository --branch release/1.0 other &&
	test "$(fdl-symbolic-ref --repo other HEAD)" = refs/heads/release/1.0
'

test_expect_success '--short leaves out refs/heads/ and no more' '
	test "$(fdl-symbolic-ref --short HEAD)" = main &&
	test "$(fdl-symbolic-ref --repo other --short HEAD)" = release/1.0
'

test_expect_success 'HEAD names another branch, even one that is not born' '
	fdl-symbolic-ref HEAD refs/heads/trunk &&
	test "$(cat repo/HEAD)" = "ref: refs/heads/trunk" &&
	test "$(fdl-symbolic-ref --short HEAD)" = trunk
'

test_expect_success 'to name the branch that it names already changes nothing' '
	unchanged fdl-symbolic-ref HEAD refs/heads/trunk
'

test_expect_success 'HEAD follows the branch' '
	fdl-symbolic-ref HEAD refs/heads/main &&
	refused 3 "HEAD names .refs/heads/main., which holds no version yet" fdl-resolve-ref HEAD &&
	one=$(write_version one) &&
	fdl-update-ref refs/heads/main "$one" &&
	test "$(fdl-resolve-ref HEAD)" = "$one"
'

test_expect_success 'HEAD names nothing but a branch' '
	unchanged refused 128 "it is not a branch" fdl-symbolic-ref HEAD refs/tags/v1 &&
	unchanged refused 128 "it is not a branch" fdl-symbolic-ref HEAD refs/remotes/origin/main &&
	unchanged refused 128 "bad ref name" fdl-symbolic-ref HEAD main &&
	unchanged refused 128 "bad ref name" fdl-symbolic-ref HEAD "" &&
	unchanged refused 128 "bad ref name" fdl-symbolic-ref HEAD "refs/heads/a$newline"
'

test_expect_success 'there is no other symbolic ref' '
	refused 128 ".refs/heads/main. is no symbolic ref" fdl-symbolic-ref refs/heads/main &&
	unchanged refused 128 ".head. is no symbolic ref" fdl-symbolic-ref head refs/heads/main &&
	test_expect_code 129 fdl-symbolic-ref &&
	test_expect_code 129 fdl-symbolic-ref HEAD refs/heads/a refs/heads/b
'

test_expect_success 'a HEAD that is damaged is told, and not written over' '
	for content in "" "ref: " "ref: refs/heads/main" "ref: refs/heads/main\r\n" "ref: main\n" "refs/heads/main\n" \
		"ref: refs/heads/../x\n" "ref: refs/heads/main\n\n" "ref: refs/heads/\0377\n"
	do
		head_is "$content" &&
		unchanged refused 128 "^fatal: .HEAD. is damaged" fdl-symbolic-ref HEAD &&
		unchanged refused 128 "^fatal: .HEAD. is damaged" fdl-symbolic-ref HEAD refs/heads/trunk || return 1
	done &&
	head_is "ref: refs/heads/$(printf %0300d 0)\n" &&
	refused 128 "HEAD.* is larger than 256 bytes" fdl-symbolic-ref HEAD &&
	rm repo/HEAD &&
	unchanged refused 3 "has no HEAD" fdl-symbolic-ref HEAD refs/heads/main
'

test_done
