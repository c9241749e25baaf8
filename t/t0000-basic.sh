#!/bin/sh

test_description='the test library tells what holds from what does not'

. "${0%/*}/test-lib.sh"

# shellcheck source=t/lib-sub-test.sh
. "$TEST_DIRECTORY/lib-sub-test.sh"

# prints STATUS OUTPUT COMMAND...: the command exits so, with this standard output.
prints() {
	want=$1
	printf '%s\n' "$2" >expect
	shift 2
	test_expect_code "$want" "$@" >out 2>err || {
		cat out err
		return 1
	}
	test_cmp expect out
}

# try STATUS OUTPUT [OPTION...] <FACTS: a test file with these facts ends so.
try() {
	status=$1 output=$2
	shift 2
	sub_test sub && prints "$status" "$output" sh t/sub.sh "$@"
}

test_expect_success 'facts that hold are counted, and nothing is left' - <<\END
	try 0 "ok 1 - one$newline""ok 2 - two$newline""1..2" <<-\EOF &&
	test_expect_success one 'touch file && true'
	test_expect_success two '
		test -f file &&
		echo this is not shown
	'
	test_done
	EOF
	test ! -s err &&
	test_path_is_missing "target/t/trash folder.sub"
END

test_expect_success 'a fact that does not hold is shown with its output, and the next is still looked at' - <<\END
	sub_test sub <<-\EOF &&
	test_expect_success wrong 'echo because && false'
	test_expect_success right true
	test_done
	EOF
	cat >expect <<-\EOF &&
	not ok 1 - wrong
	#   echo because && false
	#   because
	ok 2 - right
	1..2
	EOF
	test_expect_code 1 sh t/sub.sh >out 2>err &&
	test_cmp expect out &&
	test -d "target/t/trash folder.sub"
END

test_expect_success 'a body whose && chain is broken does not hold, though all its commands would work' - <<\END
	for body in "touch ran$newline true" "touch ran; true" "touch ran || true" "touch ran & true" "if true" "'"
	do
		sub_test sub <<-EOF &&
		test_expect_success broken - <<\\BODY
		$body
		BODY
		test_done
		EOF
		test_expect_code 1 sh t/sub.sh >out 2>err &&
		test_grep "^not ok 1 - broken" out &&
		test_grep "the && chain is broken" out &&
		test_path_is_missing "target/t/trash folder.sub/ran" || return 1
	done
END

test_expect_success 'a body that ends the shell is a failure, whatever it ends with' - <<\END
	for status in 0 1 3
	do
		try 1 "Bail out! sub ended early" <<-EOF || return 1
		test_expect_success leaves "exit $status"
		test_expect_success "is not reached" true
		test_done
		EOF
	done
END

test_expect_success 'a file without test_done is a failure' - <<\END
	try 1 "ok 1 - fine${newline}Bail out! sub ended early" <<-\EOF
	test_expect_success fine true
	EOF
END

test_expect_success 'test_when_finished: the last first, after success and after failure' - <<\END
	sub_test sub <<-\EOF &&
	test_expect_success one '
		test_when_finished "echo first >>log" &&
		test_when_finished "echo second >>log"
	'
	test_expect_success two 'test_when_finished "echo third >>log" && false'
	test_expect_success three 'printf "%s\n" second first third >expect && test_cmp expect log'
	test_done
	EOF
	test_expect_code 1 sh t/sub.sh >out 2>err &&
	grep "^ok\|^not" out >actual &&
	printf "%s\n" "ok 1 - one" "not ok 2 - two" "ok 3 - three" >expect &&
	test_cmp expect actual
END

test_expect_success 'a body that returns early is put back as well' - <<\END
	try 0 "ok 1 - yes$newline""ok 2 - and is${newline}1..2" <<-\EOF &&
	test_expect_success yes 'mkdir a && cd a && test_when_finished "touch ../back" && return 0'
	test_expect_success 'and is' 'test -f back'
	test_done
	EOF
	sub_test sub <<-\EOF &&
	test_expect_success no 'mkdir a && cd a && test_when_finished "touch ../back" && { false || return 1; }'
	test_expect_success 'and is' 'test -f back'
	test_done
	EOF
	test_expect_code 1 sh t/sub.sh >out 2>err &&
	test_grep "^not ok 1 - no" out &&
	test_grep "^ok 2 - and is" out
END

test_expect_success 'what test_when_finished does must work' - <<\END
	sub_test sub <<-\EOF &&
	test_expect_success "it cannot be put back" 'test_when_finished false && true'
	test_done
	EOF
	test_expect_code 1 sh t/sub.sh >out 2>err &&
	test_grep "^not ok 1 - it cannot be put back" out
END

test_expect_success 'a body starts in the trash folder, with nothing to read, and leaves its variables behind' - <<\END
	try 0 "ok 1 - one$newline""ok 2 - two$newline""1..2" <<-\EOF &&
	test_expect_success one 'mkdir a && cd a && variable=kept'
	test_expect_success two '
		test -d a &&
		test "$(pwd)" = "$TRASH_DIRECTORY" &&
		test $variable = kept &&
		test -z "$(cat)"
	'
	test_done
	EOF
	echo something | sh t/sub.sh >out &&
	test_cmp expect out
END

test_expect_success '--run runs only the facts that are named' - <<\END
	three="ok 1 - one # not run${newline}ok 2 - two${newline}ok 3 - three # not run${newline}1..3" &&
	sub_test sub <<-\EOF &&
	test_expect_success one false
	test_expect_success two true
	test_expect_success three false
	test_done
	EOF
	prints 0 "$three" sh t/sub.sh --run=2 &&
	test_expect_code 1 sh t/sub.sh --run=2,3 >out 2>err &&
	test_grep "^ok 1 - one # not run" out &&
	test_grep "^not ok 3 - three" out
END

test_expect_success '-i stops at the first failure, -v shows what the commands print' - <<\END
	sub_test sub <<-\EOF &&
	test_expect_success one 'echo on stdout && echo on stderr >&2 && false'
	test_expect_success two 'echo not reached'
	test_done
	EOF
	cat >expect <<-\EOF &&
	not ok 1 - one
	#   echo on stdout && echo on stderr >&2 && false
	1..1
	EOF
	test_expect_code 1 sh t/sub.sh -v -i >out 2>err &&
	test_cmp expect out &&
	printf "%s\n" "on stdout" "on stderr" >expect &&
	test_cmp expect err &&
	test -d "target/t/trash folder.sub"
END

test_expect_success '-h tells the description, another option the usage' - <<\END
	prints 0 "about sub" sh t/sub.sh -h &&
	test_expect_code 129 sh t/sub.sh --none >out 2>err &&
	test ! -s out &&
	test_grep "^usage: " err
END

test_expect_success 'what is set outside does not reach a test' - <<\END
	sub_test sub <<-\EOF &&
	test_expect_success "it is gone" '
		test -z "${FDL_REPO-}${FDL_TRACE-}${GIT_DIR-}${AWS_PROFILE-}${http_proxy-}${CDPATH-}" &&
		test "$LC_ALL" = C &&
		test "$HOME" = "$TRASH_DIRECTORY"
	'
	test_done
	EOF
	FDL_REPO=x FDL_TRACE=1 GIT_DIR=x AWS_PROFILE=x http_proxy=x CDPATH=/ LC_ALL=de_DE.UTF-8 sh t/sub.sh >out &&
	test_grep "^ok 1" out
END

test_expect_success 'nothing is run where nothing is built' - <<\END
	test_expect_code 1 env FDL_TEST_PREFIX=/nowhere sh t/sub.sh >out 2>err &&
	test ! -s out &&
	test_grep "nothing is built" err
END

test_done
