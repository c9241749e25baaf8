#!/bin/sh

test_description='a version is copied to another repository, and is complete there or not there at all'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# send ID
send() {
	fdl-send-version --repo copy --from repo "$1"
}

# is_not_sent STATUS PATTERN ID: it is refused, and no reader takes what is there for a version.
is_not_sent() {
	refused "$1" "$2" send "$3" &&
	test_path_is_missing "copy/versions/$3/version.json" &&
	refused 3 "version $3 is not in" fdl-cat-version --repo copy "$3"
}

# fresh: an empty copy.
fresh() {
	rm -rf copy &&
	fdl-create-repository --like repo copy
}

test_expect_success 'a version is sent byte for byte' '
	write_three &&
	fresh &&
	send "$one" &&
	diff -r "repo/versions/$one" "copy/versions/$one" &&
	test "$(ls copy/versions)" = "$one"
'

test_expect_success 'what a file points at is sent before it, each only where there is none, and no ref is moved' '
	FDL_TRACE="$PWD/trace" send "$two" &&
	sed -n "s,^PUT versions/$two/\([^	]*\)	ok	.*	If-None-Match: \*$,\1,p" trace >actual &&
	printf "%s\n" ducklake.duckdb dataset.json files.json version.json >expect &&
	test_cmp expect actual &&
	test "$(grep -c ^PUT trace)" = 4 &&
	test -z "$(fdl-for-each-ref --repo copy)"
'

test_expect_success 'the signature goes along, before version.json' '
	echo "a signature" >"repo/versions/$three/version.json.sig" &&
	rm trace &&
	FDL_TRACE="$PWD/trace" send "$three" &&
	cmp "repo/versions/$three/version.json.sig" "copy/versions/$three/version.json.sig" &&
	grep "^PUT" trace | tail -n 2 | cut -d / -f 3 | cut -f 1 >actual &&
	printf "%s\n" version.json.sig version.json >expect &&
	test_cmp expect actual
'

test_expect_success 'a version that is there is sent again without a change' '
	tree copy >before &&
	send "$one" &&
	send "$three" &&
	tree copy >after &&
	test_cmp before after
'

test_expect_success 'a copy that was cut off is finished' '
	for lost in version.json files.json dataset.json ducklake.duckdb
	do
		rm -f "copy/versions/$one/$lost" "copy/versions/$one/version.json" &&
		send "$one" &&
		diff -r "repo/versions/$one" "copy/versions/$one" || return 1
	done
'

test_expect_success 'what is there with other content is told and never overwritten' '
	for name in ducklake.duckdb dataset.json files.json version.json version.json.sig
	do
		cp "copy/versions/$three/$name" kept &&
		echo other >"copy/versions/$three/$name" &&
		refused 5 "^error: .versions/$three/$name. is in .*copy/. with other content; it was not overwritten" send "$three" &&
		test "$(cat "copy/versions/$three/$name")" = other &&
		cp kept "copy/versions/$three/$name" || return 1
	done &&
	send "$three"
'

test_expect_success 'a version that is not there, or not complete, is not sent' '
	fresh &&
	is_not_sent 3 "version $nowhere is not in" $nowhere &&
	for name in ducklake.duckdb dataset.json files.json
	do
		mv "repo/versions/$one/$name" kept &&
		is_not_sent 3 "version $one is not complete: .versions/$one/$name. is not in .*repo/" "$one" &&
		mv kept "repo/versions/$one/$name" || return 1
	done &&
	mv "repo/versions/$one/version.json" kept &&
	is_not_sent 3 "version $one is not in" "$one" &&
	mv kept "repo/versions/$one/version.json"
'

test_expect_success 'a version whose catalog was taken away is not sent' '
	mv "repo/versions/$one/ducklake.duckdb" kept &&
	take_away "$one" expired "" &&
	is_not_sent 3 "version $one is not complete" "$one" &&
	mv kept "repo/versions/$one/ducklake.duckdb" &&
	rm "repo/versions/$one/expired.json"
'

test_expect_success 'a catalog or an index with another digest is not sent' '
	fresh &&
	for name in ducklake.duckdb files.json
	do
		cp "repo/versions/$one/$name" kept &&
		echo more >>"repo/versions/$one/$name" &&
		is_not_sent 5 "^error: .versions/$one/$name. in .*repo/. has sha256 .*, not " "$one" &&
		test_path_is_missing "copy/versions/$one/$name" &&
		cp kept "repo/versions/$one/$name" || return 1
	done &&
	send "$one"
'

test_expect_success 'a version of another repository is not sent there' '
	fdl-create-repository other &&
	other=$(fdl-repository-var --repo other id) &&
	tree other >before &&
	refused 5 "version $one belongs to repository $(fdl-repository-var id), not to $other at .*other/" \
		fdl-send-version --repo other --from repo "$one" &&
	refused 3 "version $one is not in .*other/" fdl-send-version --from other "$one" &&
	tree other >after &&
	test_cmp before after
'

test_expect_success 'a version that is passed off as another is not sent' '
	mkdir repo/versions/$nowhere &&
	cp "repo/versions/$one"/* repo/versions/$nowhere/ &&
	is_not_sent 5 "versions/$nowhere/version.json. holds version $one" $nowhere &&
	sed -i "s/\"repository\": \".*\"/\"repository\": \"$nowhere\"/;s/\"id\": \".*\"/\"id\": \"$nowhere\"/" \
		repo/versions/$nowhere/version.json &&
	is_not_sent 5 "belongs to repository $nowhere" $nowhere
'

test_expect_success 'a damaged version.json is not sent' '
	echo "{" >repo/versions/$nowhere/version.json &&
	is_not_sent 128 "version.json. is damaged" $nowhere
'

test_expect_success 'an id is wanted, not a name' '
	refused 128 ".main. is not a version id" send main &&
	test_expect_code 129 fdl-send-version --repo copy --from repo &&
	test_expect_code 129 fdl-send-version --repo copy "$one" &&
	test_expect_code 129 fdl-send-version --repo copy --from repo "$one" "$two" &&
	refused 128 ".none. is not a repository" fdl-send-version --repo copy --from none "$one" &&
	refused 128 ".none. is not a repository" fdl-send-version --repo none --from repo "$one"
'

test_expect_success 'of several that send the same version, all are right' '
	fresh &&
	for i in 1 2 3 4 5 6 7 8
	do
		{ send "$one" >out.$i 2>&1 & } || return 1
	done &&
	wait &&
	cat out.? >all &&
	test_line_count 0 all &&
	diff -r "repo/versions/$one" "copy/versions/$one"
'

test_done
