# The main job, whatever the store: check out, write with DuckDB, commit, push, read. Sourced last, with the repository's
# URL in $towns, in $stage '--stage' or nothing, and in $kept where it is kept, if that is another URL: over HTTP, what
# makes a repository, lists it or takes something away is done there.
# shellcheck shell=sh disable=SC2086,SC2154 # test-lib.sh and the test set what is not set here; options may be none

kept=${kept:-$towns}
case $towns in
s3://*) keys=--with-keys ;;
*) keys='' ;;
esac

# checkout OPTION... CATALOG: prints the statement with which DuckDB writes to the catalog.
checkout() {
	fdl checkout $stage $keys "$@"
}

# write CATALOG SQL: runs SQL in a working catalog.
write() {
	duck "$(fdl attach-sql --repo "$towns" $keys --working "$1") $2"
}

# read_version NAME SQL: runs SQL as a reader of that version.
read_version() {
	duck "$(fdl url --sql $keys "$towns" "$1") $2"
}

# published: how many data files are in the repository.
published() {
	fdl-ls-objects --repo "$kept" data >objects && wc -l <objects | tr -d ' '
}

test_expect_success 'a repository is made' - <<\END
	fdl init "$kept" >out &&
	test_grep "made an empty repository in '$kept', with the branch 'main'" out &&
	refused 1 'is a repository already' fdl init "$kept"
END

test_expect_success 'checkout prints the statement with which DuckDB writes, and DuckDB does' - <<\END
	checkout "$towns" lake.sqlite >sql &&
	duck "$(cat sql) CREATE TABLE lake.towns AS
		SELECT name, country, population FROM read_csv('$TEST_DIRECTORY/fixtures/towns.csv')" &&
	fdl status lake.sqlite >out &&
	test_grep '^not committed:' out
END

test_expect_success 'new files go into the repository at once, or with --stage only by the push' - <<\END
	test "$(published)" = "$(test -n "$stage" && echo 0 || echo 1)" &&
	fdl commit lake.sqlite -m 'Add towns' >one &&
	test "$(published)" = "$(test -n "$stage" && echo 0 || echo 1)" &&
	fdl push lake.sqlite >out &&
	test_grep "$(cat one) -> main, 1 new files" out &&
	test "$(published)" = 1
END

test_expect_success 'the same rows make no version, and nothing new is not pushed' '
	refused 1 "nothing to commit" fdl commit lake.sqlite -m again &&
	fdl push lake.sqlite >out &&
	test_grep "everything is pushed" out
'

test_expect_success 'a second version, and both are read' - <<\END
	all=$(read_version HEAD 'SELECT count(*) FROM lake.towns') &&
	write lake.sqlite 'DELETE FROM lake.towns WHERE population < 100000' &&
	fdl commit lake.sqlite -m 'Leave out small towns' &&
	fdl push lake.sqlite &&
	large=$(read_version HEAD 'SELECT count(*) FROM lake.towns') &&
	test "$large" -lt "$all" &&
	test "$(read_version HEAD~1 'SELECT count(*) FROM lake.towns')" = "$all"
END

test_expect_success 'checked out again, the lake is the published one and can be written to' - <<\END
	fdl status lake.sqlite | tail -n 1 >actual &&
	echo 'nothing to commit' >expect &&
	test_cmp expect actual &&
	checkout "$towns" lake.sqlite >sql &&
	test_path_is_missing lake.sqlite.old-1 &&
	fdl status lake.sqlite | tail -n 1 >actual &&
	test_cmp expect actual &&
	refused 1 'nothing to commit' fdl commit lake.sqlite -m again &&
	duck "$(cat sql) SELECT count(*) FROM lake.towns" >actual &&
	echo "$large" >expect &&
	test_cmp expect actual
END

test_expect_success 'with as many rows as before, the rows tell what changed' - <<\END
	write lake.sqlite "UPDATE lake.towns SET population = population + 1 WHERE name = 'Oslo'" &&
	fdl status lake.sqlite >out &&
	test_grep "M	table	main.towns	$large	$large" out &&
	fdl commit lake.sqlite -m 'Count Oslo again' &&
	write lake.sqlite "UPDATE lake.towns SET population = population + 1 WHERE name = 'Oslo'" &&
	write lake.sqlite "UPDATE lake.towns SET population = population - 1 WHERE name = 'Oslo'" &&
	refused 1 'nothing to commit' fdl commit lake.sqlite -m same &&
	fdl push lake.sqlite
END

test_expect_success 'DuckDB tidies up, and no version loses a row' - <<\END
	read_version HEAD 'FROM lake.towns ORDER BY ALL' >expect &&
	read_version HEAD~2 'FROM lake.towns ORDER BY ALL' >expect.first &&
	write lake.sqlite "CALL ducklake_merge_adjacent_files('lake');
		CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01);
		CALL ducklake_expire_snapshots('lake', older_than => now());
		CALL ducklake_cleanup_old_files('lake', cleanup_all => true); CHECKPOINT lake" &&
	refused 1 'nothing to commit' fdl commit lake.sqlite -m tidy &&
	fdl commit --allow-empty lake.sqlite -m Tidy &&
	fdl push lake.sqlite &&
	read_version HEAD 'FROM lake.towns ORDER BY ALL' >actual &&
	test_cmp expect actual &&
	read_version HEAD~1 'FROM lake.towns ORDER BY ALL' >actual &&
	test_cmp expect actual &&
	read_version HEAD~3 'FROM lake.towns ORDER BY ALL' >actual &&
	test_cmp expect.first actual
END

test_expect_success 'names with spaces, signs and letters of any kind' - <<\END
	write lake.sqlite 'CREATE SCHEMA lake."a b"; CREATE TABLE lake."a b"."ü+=&%#?/''x" AS SELECT 1 AS "ø "' &&
	fdl commit lake.sqlite -m 'Größer, 北' &&
	fdl push lake.sqlite &&
	read_version HEAD 'FROM lake."a b"."ü+=&%#?/''x"' >actual &&
	echo 1 >expect &&
	test_cmp expect actual &&
	checkout "$towns" again.sqlite &&
	write again.sqlite 'FROM lake."a b"."ü+=&%#?/''x"' >actual &&
	test_cmp expect actual
END

test_expect_success 'log, show and status tell of it' - <<\END
	fdl log --oneline "$towns" >out &&
	test_line_count 5 out &&
	fdl show "$towns" HEAD~2 >out &&
	test_grep "^main.towns: $large rows" out &&
	fdl status lake.sqlite >out &&
	test_grep 'nothing to commit' out &&
	test_grep "on branch 'main' of '$towns'" out
END

test_expect_success 'of two writers the second is told who was first, and keeps his work' - <<\END
	checkout "$towns" other.sqlite >sql &&
	write lake.sqlite "INSERT INTO lake.towns VALUES ('A', 'X', 1)" &&
	write other.sqlite "INSERT INTO lake.towns VALUES ('B', 'Y', 2)" &&
	fdl commit lake.sqlite -m first &&
	fdl commit other.sqlite -m second &&
	fdl push lake.sqlite &&
	refused 2 "another writer pushed to 'main' first: .*: first" fdl push other.sqlite &&
	checkout --force "$towns" other.sqlite 2>err &&
	test_grep '^warning: what was there is kept as .*other.sqlite.old-1' err &&
	write other.sqlite.old-1 "SELECT population FROM lake.towns WHERE country = 'Y'" >actual &&
	echo 2 >expect &&
	test_cmp expect actual &&
	write other.sqlite "INSERT INTO lake.towns VALUES ('B', 'Y', 2)" &&
	fdl commit other.sqlite -m second &&
	fdl push other.sqlite &&
	test "$(read_version HEAD "SELECT count(*) FROM lake.towns WHERE country IN ('X', 'Y')")" = 2
END

test_expect_success 'a file that is gone is noticed before a version is made that names it' - <<\END
	checkout "$towns" third.sqlite &&
	write third.sqlite "INSERT INTO lake.towns VALUES ('C', 'Z', 3)" &&
	fdl-ls-version --repo "$towns" HEAD | cut -f 1 | sed 1q >gone &&
	fdl-cat-object --repo "$kept" "$(cat gone)" >copy &&
	fdl-rm-objects --repo "$kept" <gone &&
	test_expect_code 3 fdl commit third.sqlite -m third 2>err &&
	test_grep "$(cat gone)	missing" err &&
	fdl-put-object --repo "$kept" "$(cat gone)" <copy &&
	fdl commit third.sqlite -m third &&
	fdl push third.sqlite
END
