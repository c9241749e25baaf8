#!/bin/sh

test_description='fdl-check-version: what a version must be before a ref moves to it'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# says PATTERN COMMANDS: after these commands the check of $two gives just this reason.
says() {
	rm -rf repo && cp -R good repo && eval "$2" &&
	unchanged test_expect_code 1 fdl-check-version --parent "$one" "$two" >out &&
	test_line_count 1 out &&
	test_grep "$1" out
}

test_expect_success 'setup: two versions, of which the second deletes rows of the first' '
	setup_towns && mv towns good &&
	two=$(fdl-resolve-ref --repo good main) && one=$(fdl-resolve-ref --repo good main~1) &&
	old=$(fdl-ls-version --repo good "$one" | cut -f 1) &&
	new=$(fdl-ls-version --repo good --not "$one" "$two" | cut -f 1) &&
	test -n "$new" && cp -R good repo
'

test_expect_success 'a good version' '
	unchanged fdl-check-version --parent "$one" "$two" >out &&
	test ! -s out &&
	unchanged fdl-check-version --no-parent "$one" &&
	unchanged fdl-check-version "$two"
'

test_expect_success 'each thing that is not as it must be has its reason' '
	says "^versions/$two/version.json: version $two is not in" "rm repo/versions/$two/version.json" &&
	says "^versions/$two/version.json: .*is damaged" "echo x >repo/versions/$two/version.json" &&
	says "^versions/$two/version.json: .*belongs to repository" \
		"sed \"/repository/s/: .0/: \\\"1/\" good/versions/$two/version.json >repo/versions/$two/version.json" &&
	says "^versions/$two/expired.json: the version was taken away" "take_away $two expired x" &&
	says "^versions/$two/version.json: version $one is not in" "rm repo/versions/$one/version.json" &&
	says "which that has not" "sed s/Add/add/ good/versions/$one/version.json >repo/versions/$one/version.json" &&
	says "^versions/$two/ducklake.duckdb: it is not there" "rm repo/versions/$two/ducklake.duckdb" &&
	says "^versions/$two/ducklake.duckdb: it has [0-9]* bytes, not" "echo >>repo/versions/$two/ducklake.duckdb" &&
	says "^versions/$two/ducklake.duckdb: it has sha256" \
		"printf x | dd of=repo/versions/$two/ducklake.duckdb bs=1 seek=5000 conv=notrunc" &&
	says "^versions/$two/files.json: it is not there" "rm repo/versions/$two/files.json" &&
	says "^versions/$two/dataset.json: it is not there" "rm repo/versions/$two/dataset.json" &&
	says "^$new: it is not there" "rm repo/$new" &&
	says "^$new: it has [0-9]* bytes, but the version says" "echo >>repo/$new"
'

test_expect_success 'the parent is the one that the ref holds' '
	rm -rf repo && cp -R good repo &&
	test_expect_code 1 fdl-check-version --no-parent "$two" >out &&
	echo "version $two is built on version $one, not on no version" >expect &&
	test_cmp expect out &&
	test_expect_code 1 fdl-check-version --parent "$nowhere" "$two" >out &&
	echo "version $two is built on version $one, not on version $nowhere" >expect &&
	test_cmp expect out
'

test_expect_success 'a file that a gc is about to delete' '
	printf "{\"fdl\":\"1.0\",\"run\":\"x\",\"at\":\"2026-12-01T00:00:00Z\",\"files\":[\"%s\"]}" "$new" >repo/gc.json &&
	refused 75 "a gc is about to delete .$new." fdl-check-version "$two" &&
	rm repo/gc.json
'

test_expect_success 'a signature, where one is wanted' '
	refused 128 "nobody may sign" fdl-check-version --require-signature "$two" &&
	ssh-keygen -q -t ed25519 -N "" -f key &&
	{ printf "author@example.com " && cat key.pub; } >allowed &&
	test_expect_code 1 fdl-check-version --require-signature --allowed-signers allowed "$two" >out &&
	test_line_count 1 out && test_grep "$two.*not signed" out &&
	fdl-sign --key key "$two" &&
	fdl-check-version --require-signature --allowed-signers allowed "$two"
'

test_done
