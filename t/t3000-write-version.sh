#!/bin/sh

test_description='a version is written whole'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

uuid7='[0-9a-f]\{8\}-[0-9a-f]\{4\}-7[0-9a-f]\{3\}-[89ab][0-9a-f]\{3\}-[0-9a-f]\{12\}'

# says ID FIELD VALUE: version.json has this line.
says() {
	grep -xF "  \"$2\": $3," "repo/versions/$1/version.json" >/dev/null || {
		cat "repo/versions/$1/version.json"
		return 1
	}
}

# not_written STATUS PATTERN OPTION...: the version is refused and nothing is written.
not_written() {
	want=$1 pattern=$2
	shift 2
	unchanged refused "$want" "$pattern" write_parts "$@"
}

# without OPTION: writes a version without the option that every version needs.
without() {
	left_out=$1
	set --
	for option in --author='A <a@example.com>' --catalog=catalog --files=files.json --dataset=dataset.json -mMESSAGE
	do
		test "${option%%=*}" = "$left_out" || set -- "$@" "$option"
	done
	fdl-write-version "$@"
}

digest() {
	sha256sum <"$1" | cut -d ' ' -f 1
}

test_expect_success 'the id that is printed is a UUIDv7, and the name of the folder' '
	fdl-create-repository repo &&
	make_parts first &&
	write_parts -m First --date 2026-12-01T12:34:56Z >out &&
	test_line_count 1 out &&
	one=$(cat out) &&
	expr "$one" : "$uuid7\$" >/dev/null &&
	ls repo/versions >ls &&
	test_cmp out ls
'

test_expect_success 'version.json has its fields in their order, two spaces of indent and a final newline' '
	cat >expect <<-END &&
	{
	  "fdl": "1.0",
	  "id": "$one",
	  "repository": "$(fdl-repository-var id)",
	  "parents": [],
	  "author": "A U Thor <author@example.com>",
	  "created": "2026-12-01T12:34:56Z",
	  "message": "First",
	  "sha256": "$(digest catalog)",
	  "size": $(wc -c <catalog),
	  "ducklake": "1.0",
	  "files_sha256": "$(digest files.json)"
	}
	END
	test_cmp expect "repo/versions/$one/version.json"
'

test_expect_success 'the catalog and the indexes are kept byte for byte' '
	cmp catalog "repo/versions/$one/ducklake.duckdb" &&
	cmp files.json "repo/versions/$one/files.json" &&
	cmp dataset.json "repo/versions/$one/dataset.json" &&
	test "$(ls "repo/versions/$one" | wc -l)" = 4
'

test_expect_success 'what a file points at is written before it, each only where there is none, and no ref is moved' '
	FDL_TRACE="$PWD/trace" write_parts -m traced >out &&
	sed -n "s,^PUT versions/$(cat out)/\([^	]*\)	ok	.*	If-None-Match: \*$,\1,p" trace >actual &&
	printf "%s\n" ducklake.duckdb dataset.json files.json version.json >expect &&
	test_cmp expect actual &&
	test "$(grep -c ^PUT trace)" = 4 &&
	test -z "$(fdl-for-each-ref)"
'

test_expect_success '--parent names the version before, and the digest of its version.json' '
	two=$(write_parts -m Second --parent "$one") &&
	grep -A 4 "\"parents\"" "repo/versions/$two/version.json" >actual &&
	cat >expect <<-END &&
	  "parents": [
	    "$one"
	  ],
	  "parent_sha256": "$(digest "repo/versions/$one/version.json")",
	  "author": "A U Thor <author@example.com>",
	END
	test_cmp expect actual
'

test_expect_success 'ids made later sort later' '
	expr "$two" ">" "$one" >/dev/null &&
	three=$(write_parts -m Third --parent "$two") &&
	expr "$three" ">" "$two" >/dev/null
'

test_expect_success 'a parent is a version of this repository that can be read' '
	forge 01900000-0000-7000-8000-00000000000a "$one" "s/\"repository\": \".*\"/\"repository\": \"$nowhere\"/" &&
	forge 01900000-0000-7000-8000-00000000000b "$one" "s/1.0/2.0/" &&
	forge 01900000-0000-7000-8000-00000000000c "$one" "\$d" &&
	not_written 3 "version $nowhere is not in" -m x --parent $nowhere &&
	not_written 5 "belongs to repository $nowhere" -m x --parent 01900000-0000-7000-8000-00000000000a &&
	not_written 128 "has format version .2.0." -m x --parent 01900000-0000-7000-8000-00000000000b &&
	not_written 128 "version.json. is damaged" -m x --parent 01900000-0000-7000-8000-00000000000c &&
	not_written 128 "is not a version id" -m x --parent main
'

test_expect_success 'a date with any offset is kept in UTC, to the second' '
	says "$(write_parts -m x --date 2026-12-01T00:30:00+02:00)" created "\"2026-11-30T22:30:00Z\"" &&
	says "$(write_parts -m x --date 2026-12-01T12:34:56.4Z)" created "\"2026-12-01T12:34:56Z\"" &&
	says "$(write_parts -m x --date 1969-12-31T23:59:59-00:30)" created "\"1970-01-01T00:29:59Z\"" &&
	says "$(write_parts -m x --date 2024-02-29T00:00:00Z)" created "\"2024-02-29T00:00:00Z\""
'

test_expect_success 'without --date it is the time of the clock' '
	before=$(date -u +%FT%TZ) &&
	id=$(write_parts -m now) &&
	after=$(date -u -d "1 second" +%FT%TZ) &&
	created=$(fdl-cat-version --format %aI "$id") &&
	printf "%s\n" "$before" "$created" "$after" >order &&
	sort -c order
'

test_expect_success 'what is no date, or not one that says where, is refused' '
	for date in "" now yesterday 2026-12-01 2026-12-01T12:34:56 1764592496 2026-13-01T00:00:00Z 2026-02-29T00:00:00Z \
		2026-12-01T25:00:00Z "2026-12-01T12:34:56Z x" 99999-01-01T00:00:00Z "$(printf "\033[2J")"
	do
		not_written 128 "^fatal: bad date .*it is written 2026-12-01T12:34:56Z" -m x --date "$date" || return 1
	done
'

test_expect_success 'an author has a name and an address' '
	id=$(write_parts -m x --author "Ööbik d\`Été Jr. <o+b@example.com>") &&
	says "$id" author "\"Ööbik d\`Été Jr. <o+b@example.com>\"" &&
	id=$(write_parts -m x --author "X <>") &&
	test "$(fdl-cat-version --format "%an|%ae" "$id")" = "X|"
'

test_expect_success 'what is no author is refused' '
	for author in "" "A U Thor" "<a@example.com>" " <a@example.com>" "A<a@example.com>" "A <a@example.com" \
		"A <a@example.com> x" "A <a<b>" "A <a>b>" "A <a@example.com>$newline" "A${newline}B <a@example.com>" \
		"A	B <a@example.com>" "$(printf "A\033[2J <a@example.com>")" "$(printf "A\302\233 <a@example.com>")"
	do
		not_written 128 "^fatal: bad author .*it is written .Name <email>" -m x --author "$author" || return 1
	done
'

test_expect_success 'a message keeps its lines, and loses the blank ones at its end' '
	printf "Subject\n\nText with \"quotes\", \\\\ and é.\n  Indented." >expect &&
	{ cat expect && printf "\n\n \n"; } >message &&
	id=$(write_parts -F message) &&
	fdl-cat-version -z --format %B "$id" >actual &&
	printf "\0" >>expect &&
	cmp expect actual
'

test_expect_success 'a message may be empty' '
	says "$(write_parts -m "")" message "\"\"" &&
	: >message &&
	says "$(write_parts -F message)" message "\"\""
'

test_expect_success 'control characters in a message are kept, escaped in JSON' '
	printf "a\033[2J\001\tb\302\233\342\200\256c" >message &&
	id=$(write_parts -F message) &&
	test_grep "\"message\": \"a.u001b\[2J.u0001.tb" "repo/versions/$id/version.json" &&
	fdl-cat-version -z --format %B "$id" >actual &&
	printf "\0" >>message &&
	cmp message actual
'

test_expect_success 'a message that is not UTF-8, not there or too long is refused' '
	printf "caf\351" >message &&
	not_written 128 "^fatal: .message. is not valid UTF-8" -F message &&
	not_written 3 "^error: .none. does not exist" -F none &&
	not_written 128 "^fatal: cannot open .repo.: Is a directory" -F repo &&
	head -c 1048576 /dev/zero | tr "\0" x >message &&
	not_written 128 "^fatal: the message is too long" -F message &&
	head -c 1000000 message >long &&
	id=$(write_parts -F long) &&
	fdl-cat-version "$id" >out
'

test_expect_success 'a catalog that is none, or not there, is refused' '
	cp catalog kept &&
	for content in "" DUCK "01234567DUC" "SQLite format 3" "$(cat files.json)"
	do
		printf "%s" "$content" >catalog &&
		not_written 128 "^fatal: .catalog. is no DuckDB file" -m x || return 1
	done &&
	rm catalog &&
	not_written 3 "^error: .catalog. does not exist" -m x &&
	mkdir catalog &&
	not_written 128 "^fatal: .catalog. is no DuckDB file" -m x &&
	rmdir catalog &&
	mv kept catalog
'

test_expect_success 'a dataset.json that is none is refused' '
	cp dataset.json kept &&
	for content in "" "{" "{\"fdl\":\"1.0\"}" "{\"fdl\":\"1.0\",\"ducklake\":1,\"schemas\":[]}" "[]" \
		"{\"fdl\":\"1.0\",\"ducklake\":\"1.0\",\"ducklake\":\"0.3\",\"schemas\":[]}"
	do
		echo "$content" >dataset.json &&
		not_written 128 "^fatal: dataset.json is damaged" -m x || return 1
	done &&
	echo "{\"fdl\":\"2.0\",\"ducklake\":\"1.0\",\"schemas\":[]}" >dataset.json &&
	not_written 128 "^fatal: dataset.json has format version .2.0." -m x &&
	mv kept dataset.json
'

test_expect_success 'what is missing on the command line is told' '
	id=$(without nothing) &&
	for missing in --author --catalog --files --dataset
	do
		test_expect_code 129 without $missing 2>err &&
		test_grep "^fatal: $missing is missing" err || return 1
	done &&
	test_expect_code 129 without -mMESSAGE 2>err &&
	test_grep "^fatal: -m MESSAGE is missing" err
'

test_done
