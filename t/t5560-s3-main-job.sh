#!/bin/sh

test_description='the main job in a bucket: check out, write with DuckDB, commit, push, read'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

towns=s3://lakes/towns

# lake SQL: runs SQL in the working catalog.
lake() {
	duck "$(fdl attach-sql --repo "$towns" --with-keys --working lake.sqlite) $1"
}

# read_version NAME SQL: runs SQL as a reader of that version.
read_version() {
	duck "$(fdl url --sql --with-keys "$towns" "$1") $2"
}

test_expect_success 'a lake is made, filled and published' '
	fdl init $towns >out &&
	test_grep "made an empty repository in .s3://lakes/towns/., with the branch .main." out &&
	fdl checkout --with-keys $towns lake.sqlite >sql &&
	test_grep "^CREATE OR REPLACE SECRET lake" sql &&
	duck "$(cat sql) CREATE TABLE lake.towns AS SELECT name, country, population FROM read_csv('\''$TEST_DIRECTORY/fixtures/towns.csv'\'')" &&
	fdl status lake.sqlite >out &&
	test_grep "^not committed:" out &&
	one=$(fdl commit lake.sqlite -m "Add towns") &&
	fdl push lake.sqlite >out &&
	test_grep "$one -> main, 1 new files" out
'

test_expect_success 'what is written goes into the bucket, and nothing of it stays beside the catalog' '
	fdl-ls-objects --repo $towns data >files &&
	test_line_count 1 files &&
	test_path_is_missing lake.sqlite.fdl/data
'

test_expect_success 'the same rows make no version' '
	refused 1 "nothing to commit" fdl commit lake.sqlite -m again &&
	fdl push lake.sqlite >out &&
	test_grep "everything is pushed" out
'

test_expect_success 'a second version, and both are read' '
	all=$(read_version HEAD "SELECT count(*) FROM lake.towns") &&
	lake "DELETE FROM lake.towns WHERE population < 100000" &&
	fdl commit lake.sqlite -m "Leave out small towns" >two &&
	fdl push lake.sqlite &&
	large=$(read_version HEAD "SELECT count(*) FROM lake.towns") &&
	test "$large" -lt "$all" &&
	test "$(read_version HEAD~1 "SELECT count(*) FROM lake.towns")" = "$all"
'

test_expect_success 'as many rows as before: those in the bucket are read to tell what changed' '
	lake "UPDATE lake.towns SET population = population + 1 WHERE name = '\''Oslo'\''" &&
	test_expect_code 0 fdl status lake.sqlite >out &&
	test_grep "M	table	main.towns	$large	$large" out &&
	fdl commit lake.sqlite -m "Count Oslo again" &&
	lake "UPDATE lake.towns SET population = population + 1 WHERE name = '\''Oslo'\''" &&
	lake "UPDATE lake.towns SET population = population - 1 WHERE name = '\''Oslo'\''" &&
	refused 1 "nothing to commit" fdl commit lake.sqlite -m same &&
	fdl push lake.sqlite
'

test_expect_success 'a data file that is gone is named' '
	FDL_TRACE=$PWD/trace fdl status lake.sqlite >out &&
	sed -n "s/^GET \(data[^	]*\)	.*/\1/p" trace >read &&
	test -s read &&
	sed 1q read >one &&
	fdl-cat-object --repo $towns "$(cat one)" >kept &&
	fdl-rm-objects --repo $towns <one &&
	refused 3 "the data file .$(cat one). is not in" fdl status lake.sqlite &&
	fdl-put-object --repo $towns "$(cat one)" <kept
'

test_expect_success 'log, show and status tell of it' '
	fdl log --oneline $towns >out &&
	test_line_count 3 out &&
	fdl show $towns >out &&
	test_grep "^main.towns: $large rows" out &&
	fdl status lake.sqlite >out &&
	test_grep "nothing to commit" out &&
	test_grep "on branch .main. of .s3://lakes/towns/." out
'

test_expect_success 'of two writers the second is told who was first, and keeps his work' '
	fdl checkout $towns other.sqlite >/dev/null &&
	lake "INSERT INTO lake.towns VALUES ('\''A'\'', '\''X'\'', 1)" &&
	duck "$(fdl attach-sql --repo $towns --with-keys --working other.sqlite) INSERT INTO lake.towns VALUES ('\''B'\'', '\''Y'\'', 2)" &&
	fdl commit lake.sqlite -m first &&
	fdl commit other.sqlite -m second &&
	fdl push lake.sqlite &&
	refused 2 "another writer pushed to .main. first: .*: first" fdl push other.sqlite &&
	fdl checkout --force $towns other.sqlite >/dev/null 2>err &&
	test_grep "^warning: what was there is kept as .*other.sqlite.old-1" err &&
	duck "$(fdl attach-sql --repo $towns --with-keys --working other.sqlite) INSERT INTO lake.towns VALUES ('\''B'\'', '\''Y'\'', 2)" &&
	fdl commit other.sqlite -m second &&
	fdl push other.sqlite &&
	test "$(read_version HEAD "SELECT count(*) FROM lake.towns WHERE country IN ('\''X'\'', '\''Y'\'')")" = 2
'

test_expect_success 'a file that is gone from the bucket is noticed before the branch moves' '
	lake_tip=$(fdl-resolve-ref --repo $towns HEAD) &&
	fdl checkout $towns third.sqlite >/dev/null &&
	duck "$(fdl attach-sql --repo $towns --with-keys --working third.sqlite) INSERT INTO lake.towns VALUES ('\''C'\'', '\''Z'\'', 3)" &&
	fdl commit third.sqlite -m third &&
	fdl-ls-version --repo third.sqlite.fdl --not "$lake_tip" HEAD | cut -f 1 >new &&
	test_line_count 1 new &&
	fdl-rm-objects --repo $towns <new &&
	test_expect_code 3 fdl push third.sqlite 2>err &&
	test_grep "$(cat new)	missing" err &&
	test "$(fdl-resolve-ref --repo $towns HEAD)" = "$lake_tip"
'

test_done
