# Test files within a test: a folder 't' with the library and t/run, and with its own trash folders and results in 'target'.
# Sourced after test-lib.sh.
# shellcheck shell=sh

CARGO_TARGET_DIR=$TRASH_DIRECTORY/target
export CARGO_TARGET_DIR
mkdir t
cp "$TEST_DIRECTORY/test-lib.sh" "$TEST_DIRECTORY/paths" "$TEST_DIRECTORY/run" t

# sub_test NAME <FACTS: makes a test file with these facts.
sub_test() {
	printf '#!/bin/sh\n\ntest_description="about %s"\n\n. "${0%%/*}/test-lib.sh"\n\n' "$1" >"t/$1.sh" &&
	cat >>"t/$1.sh"
}
