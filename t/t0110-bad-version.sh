#!/bin/sh

test_description='a version.json that is damaged, too large or of a newer format is told in one line, and left alone'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# with_version SED-SCRIPT: changes version.json of version $two.
with_version() {
	sed "$1" "kept/versions/$two/version.json" >"repo/versions/$two/version.json"
}

deep=$(printf '%0200d' 0 | tr 0 '[')

test_expect_success 'a repository, and a copy of it' '
	write_three &&
	fdl-update-ref refs/heads/main "$two" &&
	cp -R repo kept &&
	bad=".versions/$two/version.json." &&
	echo fdl-cat-version "$two" >one &&
	cat >all <<-END
	fdl-cat-version $two
	fdl-cat-version --format json $two
	fdl-rev-list $two
	fdl-rev-list $three
	fdl-rev-list --reverse --format oneline main
	fdl-rev-list $three ^$one
	fdl-rev-list --all
	fdl-ls-version main
	fdl-ls-version --not main $one
	fdl-ls-tables main
	fdl-resolve-ref --live $two
	fdl-attach-sql $two
	fdl-resolve-ref main~1
	fdl-update-ref refs/heads/new $two
	fdl-send-version --repo kept --from repo $two
	write_parts -m x --parent $two
	END
'

test_expect_success 'all that read it say that it is damaged' '
	echo "{" >"repo/versions/$two/version.json" &&
	all_refuse 128 "^fatal: $bad is damaged: EOF while parsing" all
'

test_expect_success 'the ref that holds the version is listed still, and may go' '
	unchanged fdl-for-each-ref >out &&
	test_line_count 1 out &&
	unchanged fdl-resolve-ref main >out &&
	fdl-update-ref -d refs/heads/main "$two" &&
	cp kept/refs/heads/main repo/refs/heads/main
'

test_expect_success 'another major version is refused by name, with a hint' '
	with_version "s/\"fdl\": \"1.0\"/\"fdl\": \"2.0\"/" &&
	all_refuse 128 "^fatal: $bad has format version .2.0.; this fdl knows version 1" all &&
	test_grep "^hint: a newer fdl may know it" refused.err
'

test_expect_success 'a minor version and fields that are not known are fine' '
	with_version "s/\"fdl\": \"1.0\"/\"fdl\": \"1.9\", \"new\": {\"a\": [1, null]}/" &&
	fdl-cat-version "$two" >out &&
	fdl-ls-version main >out &&
	fdl-attach-sql main >out
'

test_expect_success 'whatever is left of it is not enough' '
	size=$(wc -c <"kept/versions/$two/version.json") &&
	for length in $(seq 0 17 $((size - 2))) $((size - 2))
	do
		head -c "$length" "kept/versions/$two/version.json" >"repo/versions/$two/version.json" &&
		all_refuse 128 "^fatal: $bad is damaged: " one || return 1
	done
'

test_expect_success 'what is no JSON, or other JSON, is told' '
	good=$(cat "kept/versions/$two/version.json") &&
	for text in "[]" null "{}" "$deep" "{\"fdl\":\"1.0\"}" \
		"$(printf "\357\273\277")$good" "$good x" "$good$good" "$(printf "\377")"
	do
		printf "%s\n" "$text" >"repo/versions/$two/version.json" &&
		all_refuse 128 "^fatal: $bad is damaged: " one || return 1
	done
'

test_expect_success 'fields that are none are told' '
	for change in "/\"id\"/d" "s/\"id\": \"/&x/" "/\"repository\"/d" "s/\"parents\": \[/\"parents\": {}, \"x\": [/" \
		"s/\"$one\"/\"main\"/" "s/\"$one\"/7/" "s/\"parent_sha256\": \"/&x/" \
		"/\"author\"/d" "s/\"author\": .*/\"author\": null,/" \
		"/\"created\"/d" "/\"message\"/d" "s/\"sha256\": \"./&A/" "/\"sha256\"/d" "s/\"size\": /&-/" \
		"s/\"size\": .*/\"size\": 1.5,/" \
		"s/\"size\": .*/\"size\": 18446744073709551616,/" "s/\"ducklake\": .*/\"ducklake\": 1,/" \
		"s/\"files_sha256\": \".*\"/\"files_sha256\": \"\"/"
	do
		with_version "$change" &&
		all_refuse 128 "^fatal: $bad is damaged: " one || return 1
	done
'

test_expect_success 'more than one parent is refused' '
	with_version "s/\"$one\"/&, \"$three\"/" &&
	all_refuse 128 "^fatal: $bad is damaged: a version has no more than one parent" all
'

test_expect_success 'a key that stands twice is refused, at any depth' '
	with_version "s/  \"message\": .*/&&/" &&
	all_refuse 128 "^fatal: $bad is damaged: .message. stands twice in one object" all &&
	with_version "s/  \"message\": .*/&\"new\": [{\"a\": 1, \"a\": 2}],/" &&
	all_refuse 128 "^fatal: $bad is damaged: .a. stands twice in one object" one
'

test_expect_success 'an id in another spelling is refused' '
	for id in "$(echo "$two" | tr a-f A-F)" "{$two}" "urn:uuid:$two" "$(echo "$two" | tr -d -)" " $two"
	do
		test "$id" = "$two" ||
		{ with_version "s/\"id\": \".*\"/\"id\": \"$id\"/" &&
		all_refuse 128 "^fatal: $bad is damaged: .* is not a version id" one; } || return 1
	done
'

test_expect_success 'one that is too large is not read' '
	with_version "" &&
	truncate -s 1048577 "repo/versions/$two/version.json" &&
	all_refuse 128 "^fatal: .versions/$two/version.json. in .* is larger than 1048576 bytes" all
'

test_expect_success 'one that is a link or a pipe is not read' '
	rm "repo/versions/$two/version.json" &&
	ln -s "../../../kept/versions/$two/version.json" "repo/versions/$two/version.json" &&
	all_refuse 6 "^error: .versions/$two/version.json. in .* is a symbolic link" all &&
	rm "repo/versions/$two/version.json" &&
	mkfifo "repo/versions/$two/version.json" &&
	all_refuse 6 "^error: .versions/$two/version.json. in .* is not a regular file" all
'

test_done
