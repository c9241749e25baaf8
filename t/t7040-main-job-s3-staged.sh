#!/bin/sh

test_description='the main job in a bucket, with new files beside the catalog until they are pushed'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

towns=s3://lakes/towns/ stage=--stage
# shellcheck source=t/lib-main-job.sh
. "$TEST_DIRECTORY/lib-main-job.sh"

test_done
