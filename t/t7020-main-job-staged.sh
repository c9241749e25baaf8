#!/bin/sh

test_description='the main job in a folder, with new files beside the catalog until they are pushed'

. "${0%/*}/test-lib.sh"

towns=$TRASH_DIRECTORY/towns/ stage=--stage
# shellcheck source=t/lib-main-job.sh
. "$TEST_DIRECTORY/lib-main-job.sh"

test_done
