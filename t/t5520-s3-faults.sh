#!/bin/sh

test_description='whatever goes wrong on the way, a write is never told to be what it was not'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3
start_faults

FDL_REPO=s3://lakes/repo
main=refs/heads/main

# holds REF ID
holds() {
	test "$(fdl-cat-object "$1")" = "$2"
}

test_expect_success 'versions to point at' '
	fdl-create-repository s3://lakes/repo &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	beside=$(write_version beside --parent "$one") &&
	fdl-update-ref $main "$one"
'

# moved_despite FAULT...: the first PUT of a ref meets the fault, and the ref is moved all the same.
moved_despite() {
	for fault
	do
		faults &&
		fdl-update-ref -d refs/heads/try 2>/dev/null
		fdl-update-ref refs/heads/try "$one" "" &&
		faults "1 $fault PUT refs/heads/try" &&
		fdl-update-ref refs/heads/try "$two" "$one" &&
		faults &&
		holds refs/heads/try "$two" || return 1
	done
}

test_expect_success 'a ref is moved, whatever happens to the first answer' '
	moved_despite drop-before drop-after 500 500-after 503 429 409 slow-down
'

# made_despite FAULT...: the same for a ref that is new.
made_despite() {
	for fault
	do
		faults "1 $fault PUT refs/tags/$fault" &&
		fdl-update-ref "refs/tags/$fault" "$one" "" &&
		faults &&
		holds "refs/tags/$fault" "$one" || return 1
	done
}

test_expect_success 'a ref is made, whatever happens to the first answer' '
	made_despite drop-before drop-after 500 500-after 503 429 409
'

test_expect_success 'a write whose answer is lost is made once' '
	faults "1 drop-after PUT refs/heads/once" &&
	fdl-update-ref refs/heads/once "$one" "" &&
	test "$(grep -c "^PUT /lakes/repo/refs/heads/once" "$log")" = 1 &&
	grep "^HEAD /lakes/repo/refs/heads/once" "$log"
'

test_expect_success 'a lost answer does not make a conflict a success' '
	faults &&
	echo first | fdl-put-object refs/heads/raced &&
	tag=$(fdl-ls-objects refs/heads | sed -n "s,^refs/heads/raced	.*	,,p") &&
	faults "1 overtaken PUT refs/heads/raced" &&
	test_expect_code 2 eval "echo second | fdl-put-object --if-match \"\$tag\" refs/heads/raced" &&
	faults "1 overtaken PUT refs/heads/stolen" &&
	test_expect_code 2 eval "echo second | fdl-put-object --if-none-match refs/heads/stolen" &&
	holds refs/heads/raced "another writer'\''s" &&
	holds refs/heads/stolen "another writer'\''s"
'

test_expect_success 'a store that lets another writer win as well is found out' '
	faults &&
	fdl-update-ref refs/heads/liar "$one" "" &&
	echo "$beside" >"$rules.other" &&
	faults "1 replaced PUT refs/heads/liar" &&
	refused 2 ".refs/heads/liar. was moved to $two, and then another writer.s $beside took its place" \
		fdl-update-ref refs/heads/liar "$two" "$one" &&
	test_grep "^hint: .*fdl-probe-store" refused.err
'

test_expect_success '412 is an answer, and is not asked for again' '
	faults "* 412 PUT refs/heads/answer" &&
	test_expect_code 2 eval "echo x | fdl-put-object --if-none-match refs/heads/answer" &&
	test "$(grep -c "^PUT" "$log")" = 1
'

test_expect_success 'a store that never says more than 409 is told to be busy, and nothing was written' '
	faults "* 409 PUT refs/heads/busy" &&
	refused 75 "cannot write .refs/heads/busy. .*ConditionalRequestConflict" \
		eval "echo x | fdl-put-object --if-none-match refs/heads/busy" &&
	faults &&
	refused 3 "is not in" fdl-cat-object refs/heads/busy
'

test_expect_success 'where the object cannot be read after a doubtful write, the outcome is unknown' '
	faults "1 drop-after PUT refs/heads/unknown" "* 500 HEAD refs/heads/unknown" &&
	refused 75 "it is not known whether .refs/heads/unknown. was written" \
		eval "echo x | fdl-put-object --if-none-match refs/heads/unknown"
'

test_expect_success 'a store without conditional writes, and one without room, are told at once' '
	faults "* 501 PUT refs/heads/no" &&
	refused 6 "cannot do what is needed to write .refs/heads/no.*NotImplemented" \
		eval "echo x | fdl-put-object --if-none-match refs/heads/no" &&
	test "$(grep -c "^PUT" "$log")" = 1 &&
	faults "* 507 PUT refs/heads/no" &&
	refused 6 "has no room to write" eval "echo x | fdl-put-object refs/heads/no" &&
	test "$(grep -c "^PUT" "$log")" = 1
'

test_expect_success 'a wait that is too long is not waited for' '
	faults "* never GET fdl.json" &&
	refused 75 "no answer about .fdl.json. in .s3://lakes/repo.: it answers 503" fdl-ls-objects &&
	test "$(grep -c "^GET" "$log")" = 1
'

test_expect_success 'reading outlives what passes' '
	for fault in drop-before drop-after 500 503 429 cut slow-down
	do
		faults "1 $fault GET refs/heads/main" &&
		holds $main "$one" &&
		test "$(grep -c "^GET /lakes/repo/refs/heads/main" "$log")" = 2 || return 1
	done
'

test_expect_success 'a body that is cut off is never taken for the whole' '
	head -c 300000 /dev/urandom >file &&
	faults &&
	fdl-put-object data/file <file &&
	faults "1 cut GET data/file" "2 cut GET data/file" &&
	fdl-cat-object data/file >actual &&
	cmp file actual &&
	test "$(grep -c "^GET /lakes/repo/data/file" "$log")" = 3 &&
	faults "* cut GET data/file" &&
	test_expect_code 6 fdl-cat-object data/file >actual 2>err &&
	test_grep "cut off after [0-9]* of 300000 bytes" err
'

test_expect_success 'the rest of an object that was replaced meanwhile is not put behind its beginning' '
	faults "1 cut GET data/file" "2 412 GET data/file" &&
	test_expect_code 6 fdl-cat-object data/file >actual 2>err &&
	test_grep "it was replaced while it was read" err
'

test_expect_success 'a store that stands still is given up' '
	faults "* hang GET fdl.json" &&
	FDL_STALL_TIMEOUT=1 refused 75 "nothing moved for too long" fdl-ls-objects &&
	refused 128 "^fatal: FDL_STALL_TIMEOUT: .soon. is no number of seconds" env FDL_STALL_TIMEOUT=soon fdl-ls-objects
'

test_expect_success 'a redirect is not followed, whatever the method' '
	faults "* redirect * ." &&
	refused 6 "answers read of .fdl.json.* with a redirect to .*elsewhere" fdl-ls-objects &&
	faults "* redirect PUT refs/heads/red" &&
	refused 6 "answers write of .refs/heads/red.* with a redirect" eval "echo x | fdl-put-object refs/heads/red" &&
	! grep elsewhere "$log"
'

test_expect_success 'an error that comes with 200 is none the less one' '
	faults "* error-200 GET list-type" &&
	refused 75 "cannot list .*InternalError" fdl-ls-objects &&
	faults "* error-200 POST delete" &&
	test_expect_code 75 eval "printf \"a\\nb\\n\" | fdl-rm-objects" 2>err &&
	test_grep "InternalError" err
'

test_expect_success 'a list that says there is more and not where goes on after the last key' '
	faults &&
	for i in $(seq -w 1005)
	do
		printf "p/%s\n" "$i"
	done >keys &&
	"$s3_python" - "$s3_port" <<-\END &&
	import http.client, sys
	connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
	for key in open("keys"):
	    connection.request("PUT", "/lakes/repo/" + key.strip(), b"x")
	    connection.getresponse().read()
	END
	fdl-ls-objects p | cut -f 1 >actual &&
	test_cmp keys actual &&
	faults "* no-token GET list-type" &&
	fdl-ls-objects p | cut -f 1 >actual &&
	test_cmp keys actual &&
	test "$(grep -c "start-after" "$log")" = 1 &&
	faults "* short GET list-type" &&
	refused 6 "cannot list .*: bad answer" fdl-ls-objects p
'

# list N: data files 1 to N to be sent.
list() {
	for i in $(seq "$1")
	do
		echo "$i" >"source.$i" && printf "data/main/t/%s.parquet\tsource.%s\t2\n" "$i" "$i" || return 1
	done
}

test_expect_success 'a file that does not get through holds up no other, and is sent by the next run' '
	list 5 >files &&
	faults "* 403 PUT t/2.parquet" "* 403 PUT t/4.parquet" &&
	test_expect_code 6 fdl-send-files <files >out 2>err &&
	grep -c "^sent" out >sent && echo 3 >expect && test_cmp expect sent &&
	grep "^warning: .data/main/t/[24].parquet. was not sent: .*may not write it" err &&
	grep "^error: .data/main/t/[24].parquet. in .*may not write it" err &&
	test "$(grep -c "^PUT /lakes/repo/data/main/t/2.parquet" "$log")" = 2 &&
	faults &&
	fdl-send-files --resume <files >out &&
	grep -c "^sent" out >sent && echo 2 >expect && test_cmp expect sent
'

test_expect_success 'a file that changes while it is sent is not in the repository' '
	head -c 2000 /dev/zero >source.c &&
	printf "data/main/t/c.parquet\tsource.c\t2000\n" >files &&
	faults "1 slow-down PUT t/c.parquet" &&
	change() {
		until grep -q "^PUT .*c.parquet" "$log"
		do
			sleep 0.02
		done
		head -c 2000 /dev/urandom >source.c
	} &&
	start_change() { change & changer=$!; } &&
	start_change &&
	refused 5 "source.c. changed while it was sent" eval "fdl-send-files <files" &&
	wait "$changer" &&
	refused 3 "is not in" fdl-cat-object data/main/t/c.parquet
'

test_expect_success 'a clock that is off is told with how much' '
	faults "* skewed GET fdl.json" &&
	refused 6 "the clock of this machine is 1[12][0-9] minutes behind the one of" fdl-ls-objects
'

test_done
