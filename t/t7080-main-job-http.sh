#!/bin/sh

test_description='the main job over HTTP: DuckDB reads by URL, and new files wait beside the catalog until they are pushed'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-http.sh
. "$TEST_DIRECTORY/lib-http.sh"
start_host "$TRASH_DIRECTORY"
behave batch

towns=$host/towns/ kept=$TRASH_DIRECTORY/towns/ stage=--stage
# shellcheck source=t/lib-main-job.sh
. "$TEST_DIRECTORY/lib-main-job.sh"

test_expect_success 'a repository behind HTTP is checked out with --stage, whether that is said or not' '
	fdl checkout "$towns" unsaid.sqlite >sql &&
	test_path_is_file unsaid.sqlite.fdl/stage &&
	test_grep "DATA_PATH .*unsaid.sqlite.fdl/data/" sql
'

test_done
