#!/bin/sh

test_description='a copy of a catalog is fetched once, checked, and attached from this machine'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

FDL_REPO=s3://lakes/repo

test_expect_success 'a version with a real catalog' '
	fdl-create-repository s3://lakes/repo &&
	secret=$(fdl-attach-sql --with-keys --working any | sed "/^ATTACH/,\$d") &&
	duck "$secret ATTACH '\''ducklake:made.duckdb'\'' AS w (DATA_PATH '\''s3://lakes/repo/data/'\'', DATA_INLINING_ROW_LIMIT 0);
		CREATE TABLE w.t AS SELECT range AS n FROM range(100)" &&
	make_parts one &&
	cp made.duckdb catalog &&
	one=$(write_parts -m one) &&
	fdl-update-ref refs/heads/main "$one" ""
'

test_expect_success 'it is fetched with one request beside those of fdl url, and the second time with none' '
	requests fdl-fetch-catalog >first &&
	test "$(grep -c "^GET versions/$one/ducklake.duckdb 200" first)" = 1 &&
	test_line_count 6 first &&
	copy=$(cat requests.out) &&
	test "$copy" = "$HOME/.cache/fdl/$(fdl-repository-var id)/$one.duckdb" &&
	cmp made.duckdb "$copy" &&
	requests fdl-fetch-catalog main >second &&
	! grep ducklake second &&
	test_line_count 5 second &&
	echo "$copy" | cmp - requests.out
'

test_expect_success 'the statement attaches the copy, and the data is read from the bucket' '
	fdl-fetch-catalog --sql --as small --with-keys >sql &&
	test_grep "^ATTACH .ducklake:$HOME/.cache/fdl/" sql &&
	test_grep "DATA_PATH .s3://lakes/repo/data/." sql &&
	echo 4950 >expect &&
	duck "$(cat sql) SELECT sum(n) FROM small.t" >actual &&
	test_cmp expect actual
'

test_expect_success 'a copy that is damaged is fetched anew' '
	echo damaged >"$copy" &&
	fdl-fetch-catalog >out &&
	cmp made.duckdb "$copy"
'

test_expect_success 'XDG_CACHE_HOME says where, if it is a whole path' '
	XDG_CACHE_HOME=$PWD/cache fdl-fetch-catalog >out &&
	cmp made.duckdb "cache/fdl/$(fdl-repository-var id)/$one.duckdb" &&
	XDG_CACHE_HOME=cache fdl-fetch-catalog >out &&
	echo "$copy" | cmp - out &&
	: >file &&
	refused 128 "cannot open .*/file/fdl/" env XDG_CACHE_HOME="$PWD/file" fdl-fetch-catalog
'

test_expect_success 'a catalog with another digest is no copy, and leaves none' '
	echo other | fdl-put-object "versions/$one/ducklake.duckdb" &&
	rm "$copy" &&
	refused 5 "ducklake.duckdb. in .* has sha256 .*, not " fdl-fetch-catalog &&
	find .cache -type f >left &&
	test_line_count 0 left
'

test_expect_success 'a version that was taken away is refused, though a copy is here' '
	fdl-put-object "versions/$one/ducklake.duckdb" <made.duckdb &&
	fdl-fetch-catalog >out &&
	printf "{\"fdl\":\"1.0\",\"reason\":\"withdrawn\",\"at\":\"2026-12-01T12:34:56Z\",\"message\":\"\"}\n" |
		fdl-put-object "versions/$one/expired.json" &&
	refused 4 "version $one was withdrawn" fdl-fetch-catalog &&
	refused 3 "neither a ref nor a version" fdl-fetch-catalog none
'

test_done
