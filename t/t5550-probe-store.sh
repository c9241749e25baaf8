#!/bin/sh

test_description='a store on which two writers could both win is found out before it is trusted'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3
start_faults

properties='create create-once replace replace-stale replace-missing create-race replace-race keys list clock'
of_a_bucket='list-pages range lost-answer delete-stale'

test_expect_success 'a folder has all that is needed' '
	mkdir folder &&
	fdl-probe-store folder >out &&
	test "$(cut -f 1 out | tr "\n" " ")" = "$properties " &&
	test "$(cut -f 2 out | sort -u)" = yes &&
	test "$(find folder -type f ! -name .fdl-lock | wc -l)" = 0
'

test_expect_success 'so has a good bucket, and nothing is left in it' '
	fdl-probe-store s3://lakes/probed >out &&
	test "$(cut -f 1 out | tr "\n" " ")" = "$properties $of_a_bucket " &&
	test "$(cut -f 2 out | sort -u)" = yes &&
	s3 GET "/lakes?list-type=2&prefix=probed" >left &&
	! grep "<Key>" left
'

# no NAME: the line of the property says no.
no() {
	grep "^$1	no	" out
}

test_expect_success 'a store that ignores conditions is found out' '
	faults "* blind PUT ." &&
	test_expect_code 1 fdl-probe-store s3://lakes/blind >out &&
	no create-once &&
	no replace-stale &&
	no replace-missing &&
	no create-race &&
	no replace-race &&
	grep "^create	yes	" out
'

test_expect_success 'so is one that honours them one at a time and not in a race' '
	faults "* blind PUT -0\$" &&
	test_expect_code 1 fdl-probe-store s3://lakes/racy >out &&
	no create-race &&
	no replace-race &&
	grep "^create-once	yes	" out &&
	grep "^replace-stale	yes	" out
'

test_expect_success 'a repository is not made there, and it is said what would be lost' '
	faults "* blind PUT ." &&
	refused 6 "failed the step .create-once.: .*one would lose it" fdl-init s3://lakes/blind &&
	test_grep "^hint: --single-writer" refused.err &&
	faults "* blind PUT -0\$" &&
	refused 6 "failed the step .create-race.: of 32 at once [0-9]* won" fdl-create-repository s3://lakes/blind &&
	faults &&
	refused 128 "is not a repository" fdl-ls-objects --repo s3://lakes/blind
'

test_expect_success '--single-writer makes one, and each writer is told' '
	faults "* blind PUT ." &&
	fdl-init --single-writer s3://lakes/blind &&
	FDL_REPO=s3://lakes/blind test_expect_code 3 fdl-update-ref -d refs/heads/none 2>err &&
	test_grep "^warning: .s3://lakes/blind/. is for a single writer" err
'

test_expect_success 'a good bucket is proved once, and its repository has no such mark' '
	faults &&
	fdl-init s3://lakes/good &&
	fdl-cat-object --repo s3://lakes/good fdl.json >fdl.json &&
	! grep single_writer fdl.json &&
	FDL_TRACE=$PWD/trace test_expect_code 1 fdl-init s3://lakes/good &&
	! grep "^PUT" trace &&
	FDL_REPO=s3://lakes/good test_expect_code 3 fdl-update-ref -d refs/heads/none 2>err &&
	! grep "^warning" err
'

test_expect_success 'a clock that is off is told, and is no reason to refuse' '
	faults "* late HEAD clock" &&
	fdl-probe-store s3://lakes/late >out &&
	grep "^clock	no	its clock and the one of this machine are 7[0-9]* seconds apart" out &&
	fdl-init s3://lakes/late
'

test_expect_success 'a list that leaves out a page is found out' '
	faults "* no-next GET max-keys=4" &&
	test_expect_code 1 fdl-probe-store s3://lakes/pages >out &&
	no list-pages &&
	grep "^list-pages	no	in pages of 4, .* is not listed" out &&
	faults "* one-page GET max-keys" &&
	fdl-probe-store s3://lakes/pages >out &&
	grep "^list-pages	yes" out
'

test_expect_success 'what a repository can do without is told' '
	faults "* whole GET range" "* unstamped HEAD unheard" "* blind DELETE delete" &&
	fdl-probe-store s3://lakes/poor >out &&
	no range &&
	no lost-answer &&
	no delete-stale &&
	grep "^range	no	no part of an object can be read" out &&
	fdl-init s3://lakes/poor
'

test_expect_success 'a write that is hung up on and does not take place is no fault' '
	faults "* drop-before PUT /unheard$" &&
	fdl-probe-store s3://lakes/dropped >out &&
	grep "^lost-answer	yes	.* did not take place" out
'

test_expect_success 'a store that cannot be asked is no store that fails' '
	refused 6 "there is no bucket .none-here." fdl-probe-store s3://none-here &&
	refused 3 "does not exist" fdl-probe-store nowhere &&
	test_expect_code 129 fdl-probe-store
'

test_done
