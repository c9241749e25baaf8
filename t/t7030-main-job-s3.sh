#!/bin/sh

test_description='the main job in a bucket'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

towns=s3://lakes/towns/ stage=''
# shellcheck source=t/lib-main-job.sh
. "$TEST_DIRECTORY/lib-main-job.sh"

test_expect_success 'files that must be read to compare rows are read once, and one that is gone is named' - <<\END
	write lake.sqlite 'SELECT 1' &&
	checkout "$towns" lake.sqlite &&
	write lake.sqlite "UPDATE lake.towns SET population = population + 1 WHERE name = 'Oslo'" &&
	FDL_TRACE=$PWD/trace fdl status lake.sqlite >out &&
	sed -n 's/^GET \(data[^	]*\)	.*/\1/p' trace | sort >read &&
	uniq -d read >twice &&
	test -s read &&
	test_line_count 0 twice &&
	sed 1q read >gone &&
	fdl-cat-object --repo "$towns" "$(cat gone)" >kept &&
	fdl-rm-objects --repo "$towns" <gone &&
	refused 3 "the data file '$(cat gone)' is not in" fdl status lake.sqlite &&
	fdl-put-object --repo "$towns" "$(cat gone)" <kept
END

test_expect_success 'a new file that is gone is noticed before the branch moves' - <<\END
	checkout --force "$towns" lake.sqlite &&
	write lake.sqlite "INSERT INTO lake.towns VALUES ('D', 'Z', 4)" &&
	tip=$(fdl commit lake.sqlite -m fourth) &&
	fdl-ls-version --repo lake.sqlite.fdl --not "$tip~1" "$tip" | cut -f 1 >gone &&
	test_line_count 1 gone &&
	fdl-cat-object --repo "$towns" "$(cat gone)" >copy &&
	fdl-rm-objects --repo "$towns" <gone &&
	test_expect_code 3 fdl push lake.sqlite 2>err &&
	test_grep "$(cat gone)	missing" err &&
	test "$(fdl-resolve-ref --repo "$towns" HEAD)" != "$tip" &&
	fdl-put-object --repo "$towns" "$(cat gone)" <copy &&
	fdl push lake.sqlite &&
	test "$(fdl-resolve-ref --repo "$towns" HEAD)" = "$tip"
END

test_done
