#!/bin/sh

test_description='data files are sent, each once and whole'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# record KEY PATH SIZE
record() {
	printf 'data/%s\t%s\t%s\n' "$1" "$2" "$3"
}

# sends STATUS: sends the list 'list' and leaves what was done, sorted, in 'did'.
sends() {
	test_expect_code "$1" fdl-send-files <list >out 2>err &&
	sort out >did
}

test_expect_success 'files that the repository lacks are sent' '
	fdl-create-repository repo &&
	mkdir files &&
	printf one >files/one &&
	printf four >"files/f o u r" &&
	: >files/empty &&
	{
		record main/t/one.parquet files/one 3 &&
		record "x=1/é.parquet" "$PWD/files/f o u r" 4 &&
		record main/t/empty.parquet ./files/empty 0
	} >list &&
	sends 0 &&
	cat >expect <<-\END &&
	sent	data/main/t/empty.parquet	0
	sent	data/main/t/one.parquet	3
	sent	data/x=1/é.parquet	4
	END
	test_cmp expect did &&
	cmp files/one repo/data/main/t/one.parquet &&
	cmp "files/f o u r" "repo/data/x=1/é.parquet" &&
	cmp files/empty repo/data/main/t/empty.parquet
'

test_expect_success 'files that are there are not sent again, and their sources are not needed' '
	mv files moved &&
	unchanged sends 0 &&
	sed "s/^sent/present/" expect >present &&
	test_cmp present did &&
	mv moved files
'

test_expect_success 'an object of another size is told and never overwritten' '
	record main/t/one.parquet "files/f o u r" 4 >list &&
	unchanged sends 5 &&
	one_line err &&
	test_grep "^error: .data/main/t/one.parquet. is there with 3 bytes instead of 4; it was not overwritten" err
'

test_expect_success 'a source that is not as the catalog says is not sent' '
	for size in 0 2 4 18446744073709551615
	do
		record new files/one $size >list &&
		unchanged sends 5 &&
		one_line err &&
		test_grep "^error: .files/one. has 3 bytes; the catalog says $size" err || return 1
	done
'

test_expect_success 'a source that is not there, or no file, is told' '
	record new files/none 3 >list &&
	unchanged sends 3 &&
	test_grep "^error: .files/none. does not exist" err &&
	mkfifo files/pipe &&
	for path in files files/pipe /dev/null
	do
		record new "$path" "$(stat -c %s "$path")" >list &&
		unchanged sends 5 &&
		one_line err &&
		test_grep "^error: .$path. is not a regular file" err || return 1
	done &&
	rm files/pipe &&
	record new files/one/x 3 >list &&
	unchanged sends 128 &&
	test_grep "^fatal: cannot open .files/one/x.: Not a directory" err
'

test_expect_success 'what is no list is refused' '
	for text in data/new "data/new	files/one" "data/new	files/one	x" "data/new	files/one	-3" "data/new	files/one	3	4" \
		"" "../new	files/one	3" "data//new	files/one	3" "data/a%b	files/one	3"
	do
		printf "%s\n" "$text" >list &&
		unchanged sends 128 &&
		one_line err || return 1
	done
'

test_expect_success 'a list that was cut off sends nothing wrong' '
	record new files/one 3 >whole &&
	for length in 3 8 9 15 18 19 20
	do
		head -c $length whole >list &&
		unchanged sends 128 &&
		one_line err &&
		test_grep "^fatal: record 1 of standard input was cut off" err || return 1
	done
'

test_expect_success 'an empty list is fine' '
	: >list &&
	unchanged sends 0 &&
	test_line_count 0 did
'

test_expect_success '-z reads and prints records that end with NUL, and a path may have any character' '
	printf three >"files/a$newline%b" &&
	printf "data/z\tfiles/a\n%%b\t5\0data/main/t/one.parquet\tx\t3\0" >list &&
	fdl-send-files -z --jobs 1 <list >out &&
	printf "sent\tdata/z\t5\0present\tdata/main/t/one.parquet\t3\0" >expect &&
	cmp expect out
'

test_expect_success 'two hundred files are sent, by however many at once' '
	for i in $(seq 200)
	do
		echo "$i" >files/many.$i || return 1
	done &&
	for jobs in 1 16 300
	do
		for i in $(seq 200)
		do
			record "jobs=$jobs/$i.parquet" files/many.$i "$(printf "%s\n" $i | wc -c)" || return 1
		done >list &&
		fdl-send-files --jobs $jobs <list >out &&
		test_line_count 200 out &&
		test "$(grep -c "^sent	" out)" = 200 &&
		for i in $(seq 200)
		do
			cmp files/many.$i "repo/data/jobs=$jobs/$i.parquet" || return 1
		done || return 1
	done &&
	test_expect_code 129 fdl-send-files --jobs many <list &&
	test_expect_code 129 fdl-send-files --jobs -1 <list
'

test_expect_success 'each file is written only where there is none, and asked for before' '
	record trace files/one 3 >list &&
	FDL_TRACE="$PWD/trace" fdl-send-files <list >out &&
	cut -f 1,2,5 trace | grep trace >actual &&
	printf "HEAD data/trace\tabsent\nPUT data/trace\tok\tIf-None-Match: *\n" >expect &&
	test_cmp expect actual
'

test_expect_success 'the first failure stops what has not begun, and what was done is said' '
	{
		record fine files/one 3 &&
		record bad files/none 3 &&
		for i in $(seq 200)
		do
			record late/$i files/one 3 || return 1
		done
	} >list &&
	test_expect_code 3 fdl-send-files --jobs 1 <list >out 2>err &&
	printf "sent\tdata/fine\t3\n" >expect &&
	test_cmp expect out &&
	test_path_is_missing repo/data/late
'

test_expect_success 'of several that send the same file one writes it, and all are right' '
	head -c 1000000 /dev/urandom >files/big &&
	record big files/big 1000000 >list &&
	for i in 1 2 3 4 5 6 7 8
	do
		{ fdl-send-files <list >out.$i 2>&1 & } || return 1
	done &&
	wait &&
	cat out.? >all &&
	test_line_count 8 all &&
	test "$(grep -c "^sent	" all)" = 1 &&
	test "$(grep -c "^present	" all)" = 7 &&
	cmp files/big repo/data/big
'

test_expect_success 'a bar is drawn on a terminal only, and not where it is not wanted' '
	record bar files/big 1000000 >list &&
	on_terminal() {
		script -qec "fdl-send-files $1 <list >out" typescript </dev/null >/dev/null && tr "\r" "\n" <typescript >drawn
	} &&
	on_terminal --resume &&
	test_grep "976.56 KiB" drawn &&
	on_terminal --no-progress &&
	! grep KiB drawn &&
	fdl-send-files <list >out 2>err &&
	test_line_count 0 err
'

test_expect_success 'a disk that is full leaves no part of a file' '
	record full files/big 1000000 >list &&
	full() { (trap "" XFSZ && ulimit -f 100 && fdl-send-files <list) } &&
	unchanged refused 6 "^error: cannot write .data/full. in .*: File too large" full &&
	find repo -name ".fdl-tmp-*" >left &&
	test_line_count 0 left &&
	fdl-send-files <list &&
	cmp files/big repo/data/full
'

test_done
