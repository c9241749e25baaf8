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

test_done
