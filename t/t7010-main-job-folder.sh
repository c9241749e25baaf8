#!/bin/sh

test_description='the main job in a folder'

. "${0%/*}/test-lib.sh"

towns=$TRASH_DIRECTORY/towns/ stage=''
# shellcheck source=t/lib-main-job.sh
. "$TEST_DIRECTORY/lib-main-job.sh"

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
