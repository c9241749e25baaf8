#!/bin/sh

test_description='the main job in a folder'

. "${0%/*}/test-lib.sh"

towns=$TRASH_DIRECTORY/towns/ stage=''
# shellcheck source=t/lib-main-job.sh
. "$TEST_DIRECTORY/lib-main-job.sh"

test_done
