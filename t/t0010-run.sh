#!/bin/sh

test_description='t/run builds, runs tests and unit tests, and tells the sum'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-sub-test.sh
. "$TEST_DIRECTORY/lib-sub-test.sh"

# passes NAME N and fails NAME: test files, of N facts that hold, and of one that does and one that does not.
passes() {
	{ seq "$2" | sed 's/.*/test_expect_success "number &" true/' && echo test_done; } | sub_test "$1"
}

fails() {
	printf '%s\n' 'test_expect_success right true' 'test_expect_success wrong false' test_done | sub_test "$1"
}

# last LINE: what t/run printed ended so.
last() {
	echo "$1" >expect && tail -n 1 out >actual && test_cmp expect actual
}

test_expect_success 't/run builds first, and ends when that fails' - <<\END
	passes t1000-good 3 &&
	fails t1100-bad &&
	printf "#!/bin/sh\nexit 1\n" >t/setup &&
	chmod +x t/setup t/run &&
	test_expect_code 1 t/run t1000-good >out &&
	test ! -s out &&
	printf "#!/bin/sh\ntouch built\n" >t/setup &&
	t/run t1000-good >out &&
	test_path_is_file built &&
	printf "t1000-good: 3 passed, 0 failed\n3 passed, 0 failed\n" >expect &&
	test_cmp expect out
END

test_expect_success 't/run adds up, shows what failed and exits 1' - <<\END
	test_expect_code 1 t/run t1100-bad.sh t1000-good >out &&
	test_grep "^t1100-bad: 1 passed, 1 failed" out &&
	test_grep "^not ok 2 - wrong" out &&
	last "4 passed, 1 failed"
END

test_expect_success 't/run counts a file that ends early as failed' - <<\END
	echo "test_expect_success fine true" | sub_test t1200-early &&
	printf "%s\n" "test_expect_success fine true" "kill -9 \$\$" | sub_test t1300-killed &&
	echo "test_done" | sub_test t1400-empty &&
	echo "ls (" >t/t1500-syntax.sh &&
	test_expect_code 1 t/run t1200-early t1300-killed t1400-empty t1500-syntax >out &&
	test_grep "^t1200-early: 1 passed, 1 failed" out &&
	test_grep "^Bail out! t1200-early ended early" out &&
	test_grep "^t1300-killed: 1 passed, 1 failed" out &&
	test_grep "^t1400-empty: 0 passed, 1 failed" out &&
	test_grep "^t1500-syntax: 0 passed, 1 failed" out &&
	last "2 passed, 4 failed"
END

test_expect_success 't/run refuses the name of no test before it runs one' - <<\END
	test_expect_code 1 t/run t1000-good t9999-none >out 2>err &&
	test ! -s out &&
	test_grep "^fatal: there is no test .*t9999-none.sh" err
END

test_expect_success 't/run --jobs wants a number, and there is no other option' - <<\END
	t/run -h >out &&
	test_grep "^usage: t/run" out &&
	passes t1600-also 2 &&
	t/run --jobs 2 t1000-good t1600-also >out &&
	last "5 passed, 0 failed" &&
	for options in --jobs "--jobs x" "--jobs 0" "--jobs -1" "--jobs= 2" --none
	do
		test_expect_code 129 t/run $options >out 2>err &&
		test ! -s out &&
		test_grep "^usage: t/run" err || return 1
	done
END

test_expect_success 'with --jobs 2 two run at once, with --jobs 1 the one after the other' - <<\END
	for name in t3000-a t3001-b
	do
		sub_test $name <<-\EOF || return 1
		test_expect_success "another one runs" '
			cd "$TEST_DIRECTORY/.." &&
			mkdir -p met &&
			touch "met/$test_name" &&
			for second in $(seq 30)
			do
				test "$(ls met | wc -l)" = 2 && return 0
				test ! -e alone || return 1
				sleep 1
			done &&
			false
		'
		test_done
		EOF
	done &&
	t/run --jobs 2 t3000-a t3001-b >out &&
	last "2 passed, 0 failed" &&
	rm -r met &&
	touch alone &&
	test_expect_code 1 t/run --jobs 1 t3000-a t3001-b >out &&
	last "1 passed, 1 failed" &&
	rm t/t300*
END

# unit_tests STATUS TEXT: what cargo is to print for the unit tests, and how it is to end.
unit_tests() {
	mkdir -p path && printf '#!/bin/sh\nprintf "%%b" "%s"\nexit %s\n' "$2" "$1" >path/cargo && chmod +x path/cargo
}

test_expect_success 't/run without names runs the unit tests and every test' - <<\END
	PATH=$TRASH_DIRECTORY/path:$PATH &&
	rm t/t1[1-6]*.sh &&
	passes t2000-more 2 &&
	good="test result: ok. 3 passed; 0 failed; 0 ignored\n" &&
	unit_tests 0 "$good${good}running\n" &&
	t/run >out &&
	test_grep "^unit tests: 6 passed, 0 failed" out &&
	last "11 passed, 0 failed" &&
	unit_tests 101 "$good${good}test result: FAILED. 2 passed; 1 failed; 0 ignored\n" &&
	test_expect_code 1 t/run >out &&
	test_grep "^unit tests: 8 passed, 1 failed" out &&
	last "13 passed, 1 failed"
END

test_expect_success 't/run counts unit tests that do not build, or are none, as failed' - <<\END
	unit_tests 101 "error: could not compile\n" &&
	test_expect_code 1 t/run >out &&
	test_grep "^error: could not compile" out &&
	last "5 passed, 1 failed" &&
	unit_tests 0 "" &&
	test_expect_code 1 t/run >out &&
	last "5 passed, 1 failed"
END

test_done
