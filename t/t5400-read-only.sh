#!/bin/sh

test_description='who may read but not write reads everything, and is told what could not be written'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# Modes do not hold for root, so root becomes nobody for the command. The world is where nobody may come: neither the
# trash folder nor the installed commands need be.
world=$(mktemp -d "${TMPDIR:-/tmp}/fdl.XXXXXX") || exit 1
trap 'chmod -R u+w "$world"; rm -rf "$world"; test -n "$test_finished" || { echo "Bail out! ended early" >&5; exit 1; }' 0
FDL_REPO=$world/repo

as_reader() {
	if test "$(id -u)" = 0
	then
		(cd "$world" && PATH=$world/bin:$PATH setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
	else
		"$@"
	fi
}

# not_written PATTERN COMMAND...: it fails with status 6 and one line, and nothing is changed.
not_written() {
	pattern=$1
	shift
	tree "$world/repo" >before &&
	refused 6 "^error: $pattern" as_reader "$@" &&
	tree "$world/repo" >after &&
	test_cmp before after
}

test_expect_success 'a repository that only its owner may write' '
	mkdir "$world/bin" &&
	cp "$FDL_TEST_PREFIX"/bin/fdl-* "$world/bin" &&
	fdl-create-repository "$world/repo" &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	fdl-update-ref refs/heads/main "$one" &&
	fdl-update-server-info &&
	echo old | fdl-put-object a/object &&
	cp catalog files.json dataset.json "$world" &&
	printf "data/x\tcatalog\t%s\n" "$(wc -c <catalog)" >"$world/list" &&
	chmod -R a+rX,a-w "$world" &&
	as_reader test -r "$world/repo/HEAD" &&
	test_must_fail as_reader sh -c ": >\"$world/repo/x\""
'

test_expect_success 'it is read' '
	test "$(as_reader fdl-resolve-ref --live HEAD)" = "$one" &&
	as_reader fdl-for-each-ref >out &&
	test_line_count 1 out &&
	as_reader fdl-rev-list --format oneline main >out &&
	test_line_count 1 out &&
	as_reader fdl-cat-object a/object >out &&
	as_reader fdl-ls-objects >out 2>err &&
	test_line_count 0 err &&
	as_reader fdl-ls-version main >out &&
	printf "a/object\t4\n" | as_reader fdl-check-objects --settle
'

test_expect_success 'no object is written, replaced or deleted' '
	echo new >new &&
	not_written "cannot write .a/object. in .*: Permission denied" fdl-put-object a/object <new &&
	not_written "cannot write .b/object. in .*: Permission denied" fdl-put-object b/object <new &&
	not_written "cannot write .a/object. in .*: Permission denied" fdl-put-object --if-none-match a/object <new &&
	echo a/object >key &&
	tree "$world/repo" >before &&
	test_expect_code 6 as_reader fdl-rm-objects <key 2>err &&
	test_grep "^warning: cannot .*a/object.*: Permission denied" err &&
	test_grep "^error: 1 objects were not deleted" err &&
	tree "$world/repo" >after &&
	test_cmp before after
'

test_expect_success 'no ref is moved, made or deleted, and that is not taken for an unknown outcome' '
	not_written "cannot write .refs/heads/main. in .*: Permission denied" fdl-update-ref refs/heads/main "$two" "$one" &&
	not_written "cannot write .refs/tags/v1. in .*: Permission denied" fdl-update-ref refs/tags/v1 "$two" &&
	not_written "cannot .* .refs/heads/main. in .*: Permission denied" fdl-update-ref -d refs/heads/main &&
	not_written "cannot write .HEAD. in .*: Permission denied" fdl-symbolic-ref HEAD refs/heads/trunk &&
	as_reader fdl-update-server-info
'

test_expect_success 'no version is written or sent, and no data file' '
	not_written "cannot write .versions/.*/ducklake.duckdb. in .*: Permission denied" \
		fdl-write-version --author "$FDL_AUTHOR" -m x --catalog "$world/catalog" --files "$world/files.json" \
		--dataset "$world/dataset.json" &&
	FDL_REPO= fdl-create-repository --like "$world/repo" from &&
	three=$(write_version three --repo from) &&
	cp -R from "${world}from" &&
	test_when_finished "rm -rf \"${world}from\"" &&
	chmod -R a+rX "${world}from" &&
	not_written "cannot write .versions/$three/ducklake.duckdb. in .*: Permission denied" \
		fdl-send-version --from "${world}from" "$three" &&
	not_written "cannot write .data/x. in .*: Permission denied" \
		sh -c "cd \"$world\" && fdl-send-files <list"
'

test_expect_success 'no repository is made where nobody may make one' '
	not_written "cannot make folder .*/repo/new.: Permission denied" fdl-create-repository "$world/repo/new" &&
	not_written "cannot write .HEAD. in .*: Permission denied" fdl-create-repository "$world/bin"
'

test_expect_success 'what may not be read is an error, never "there is none"' '
	chmod 0 "$world/repo/refs/heads/main" "$world/repo/versions/$two" &&
	test_when_finished "chmod a+rX \"$world/repo/refs/heads/main\" \"$world/repo/versions/$two\"" &&
	refused 6 "cannot read .refs/heads/main. in .*: Permission denied" as_reader fdl-resolve-ref --or-none main &&
	refused 6 "cannot read .refs/heads/main. in .*: Permission denied" as_reader fdl-for-each-ref &&
	refused 6 "cannot reach .versions/$two/version.json. in .*: Permission denied" as_reader fdl-cat-version "$two" &&
	refused 6 "cannot list .*/versions/$two/.: Permission denied" as_reader fdl-ls-objects versions &&
	printf "versions/$two/version.json\t1\n" >list &&
	refused 6 "cannot reach" as_reader fdl-check-objects <list
'

test_expect_success 'root too can make no folder below a file, nor in /proc' '
	: >file &&
	refused 6 "^error: cannot make folder .*/file/repo.: Not a directory" fdl-create-repository file/repo &&
	refused 6 "^error: cannot make folder ./proc/fdl.:" fdl-create-repository /proc/fdl &&
	refused 128 "^fatal: .*/file. is not a folder" fdl-for-each-ref --repo file
'

test_done
