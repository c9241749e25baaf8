#!/bin/sh

test_description='the names that a ref may have'

. "${0%/*}/test-lib.sh"

valid() {
	for name
	do
		test "$(fdl-check-ref-format "$name")" = "$name" || return 1
	done
}

# bad PATTERN NAME...: each is refused for that reason.
bad() {
	why=$1
	shift
	for name
	do
		refused 1 "^error: bad ref name .*$why" fdl-check-ref-format "$name" || return 1
	done
}

# repeat TEXT N
repeat() {
	printf "%$2s" '' | sed "s, ,$1,g"
}

test_expect_success 'branches, tags and remote branches are refs' '
	valid refs/heads/main refs/tags/v1.0 refs/remotes/origin/main refs/remotes/main
'

test_expect_success 'letters, digits, ".", "_", "-" and levels may stand in a name' '
	valid refs/heads/a refs/heads/_ refs/heads/0 refs/heads/A.b-c_d refs/heads/a- refs/heads/a/b/c/d
'

test_expect_success 'a name begins with refs/ and one of three kinds' '
	bad "does not begin with .refs/" main /refs/heads/main heads/main REFS/heads/main ref/heads/main "" HEAD &&
	bad "neither in refs/heads/" refs refs/ refs/main refs/notes/a refs/Heads/a refs//heads/a refs/headsx/a
'

test_expect_success 'no component is empty' '
	bad "a component is empty" refs/heads/ refs/heads//a refs/heads/a/ refs/heads/a//b &&
	bad "the name is empty" refs/heads refs/tags
'

test_expect_success 'a component begins with a letter, a digit or "_"' '
	bad "must begin with" refs/heads/.a refs/heads/-a refs/heads/a/.b refs/heads/a/-rf refs/heads/. refs/heads/..
'

test_expect_success 'what Git, a shell, a URL or a terminal would read otherwise is refused' '
	for c in " " "~" "^" : "?" "*" "[" "\\" "@{" "\$" "%" "#" "&" "+" "=" "(" ";" "!" "<" "," "é" "ß" "$(printf "\t")"
	do
		bad "only letters, digits" "refs/heads/a$c" "refs/tags/b/a${c}b" || return 1
	done
'

test_expect_success 'what is refused is shown without driving the terminal' '
	bad "only letters" "refs/heads/a$(printf "\033[2J\nb")" &&
	test_grep "a.u{1b}\[2J.nb" refused.err
'

test_expect_success '"..", a "." at the end and ".lock" are refused' '
	bad "it holds .\.\." refs/heads/a..b refs/heads/a/b... &&
	bad "ends in" refs/heads/a. refs/heads/a.lock refs/heads/a.lock/b refs/heads/a./b &&
	valid refs/heads/a.lock.b refs/heads/a.locked refs/heads/lock
'

test_expect_success 'a name has up to 200 bytes' '
	valid "refs/heads/$(repeat x 189)" &&
	bad "longer than 200 bytes" "refs/heads/$(repeat x 190)" "refs/heads/a/$(repeat x/ 1000)y"
'

test_expect_success 'an id may be the name of a branch, as it may in Git' '
	valid refs/heads/019a3c50-6f2e-7d10-b7a5-1be4c9d3a2c8
'

test_expect_success '--branch and --tag make the full name of a short one' '
	test "$(fdl-check-ref-format --branch release/1.0)" = refs/heads/release/1.0 &&
	test "$(fdl-check-ref-format --tag v1)" = refs/tags/v1 &&
	test "$(fdl-check-ref-format --branch refs/heads/a)" = refs/heads/refs/heads/a &&
	refused 1 "a component is empty" fdl-check-ref-format --branch "" &&
	refused 1 "must begin with" fdl-check-ref-format --tag ../heads/main
'

test_expect_success 'a name that is not UTF-8, none, or two are wrong usage' '
	test_expect_code 129 fdl-check-ref-format "refs/heads/$(printf "\377")" 2>err &&
	test_grep "^fatal: .* is not valid UTF-8" err &&
	test_expect_code 129 fdl-check-ref-format 2>err &&
	test_grep "^fatal: NAME is missing" err &&
	test_expect_code 129 fdl-check-ref-format refs/heads/a refs/heads/b &&
	test_expect_code 129 fdl-check-ref-format --head a
'

test_done
