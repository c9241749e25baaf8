#!/bin/sh

test_description='new files that wait beside the working catalog until they are pushed'

. "${0%/*}/test-lib.sh"

# names FILE: the paths of the data and delete files in a working catalog, and whether each is relative.
names() {
	sqlite "$1" "SELECT path, path_is_relative FROM ducklake_data_file;
SELECT path, path_is_relative FROM ducklake_delete_file"
}

# write SQL: runs SQL in the staged catalog.
write() {
	duck "$(fdl attach-sql --repo towns --working staged.sqlite) $1"
}

# killed N COMMAND...: runs it until its N-th write; sets $status.
killed() {
	echo "$1" >left
	shift
	FDL_TEST_KILL_AFTER=$TRASH_DIRECTORY/left setsid --wait "$@" >out 2>&1
	status=$?
}

test_expect_success 'published files are named by their URLs, and new ones below the data path' - <<\END
	setup_towns &&
	fdl checkout --stage towns staged.sqlite &&
	names staged.sqlite >actual &&
	names lake.sqlite | sed "s,^,$TRASH_DIRECTORY/towns/data/main/towns/,; s/1\$/0/" >expect &&
	test_line_count 2 expect &&
	test_cmp expect actual &&
	write "INSERT INTO lake.towns VALUES ('Staged', 'NN', 5000000)" &&
	names staged.sqlite | grep -c '	1$' >relative &&
	echo 1 >expect &&
	test_cmp expect relative
END

test_expect_success 'a version names them all alike' - <<\END
	fdl commit staged.sqlite -m 'Add Staged' >id &&
	fdl-ls-files "staged.sqlite.fdl/versions/$(cat id)/ducklake.duckdb" >files &&
	test_line_count 3 files &&
	! grep -v '^main/towns/ducklake-[^/]*\.parquet	' files
END

test_expect_success 'a staged file that is gone or cut off is named before anything is sent' - <<\END
	file=$(cd staged.sqlite.fdl && find data -type f) &&
	tree towns >before &&
	mv "staged.sqlite.fdl/$file" moved &&
	test_expect_code 3 fdl push staged.sqlite 2>err &&
	test_grep "^$file	missing" err &&
	head -c 10 moved >"staged.sqlite.fdl/$file" &&
	refused 5 "has 10 bytes; the catalog says" fdl push staged.sqlite &&
	test "$(fdl-resolve-ref --repo towns HEAD)" = "$(fdl-resolve-ref --repo staged.sqlite.fdl refs/remotes/origin/main)" &&
	mv moved "staged.sqlite.fdl/$file"
END

test_expect_success 'a push that is killed after any of its writes is gone on with' - <<\END
	rm -rf towns.old work.old && cp -R towns towns.old && cp -R staged.sqlite.fdl work.old &&
	n=0 status=137 &&
	while test "$status" = 137
	do
		n=$((n + 1)) &&
		rm -rf towns staged.sqlite.fdl && cp -R towns.old towns && cp -R work.old staged.sqlite.fdl || return 1
		killed "$n" fdl push staged.sqlite
		duck "$(fdl url --sql towns) SELECT count(*) > 0 FROM lake.towns" &&
		fdl push staged.sqlite >out &&
		test "$(duck "$(fdl url --sql towns) SELECT population FROM lake.towns WHERE name = 'Staged'")" = 5000000 ||
			return 1
	done &&
	test "$status" = 0 && test "$n" -gt 6
END

test_expect_success 'staged files stay as long as the working catalog names them' - <<\END
	test -f "staged.sqlite.fdl/$file" &&
	write "UPDATE lake.towns SET population = 1 WHERE name = 'Staged'" &&
	fdl commit staged.sqlite -m 'Change Staged' &&
	fdl push staged.sqlite &&
	fdl checkout --stage towns staged.sqlite &&
	test_path_is_missing staged.sqlite.fdl/data &&
	write "SELECT population FROM lake.towns WHERE name = 'Staged'" >actual &&
	echo 1 >expect &&
	test_cmp expect actual
END

test_expect_success 'files that were not pushed are not thrown away' - <<\END
	write 'DELETE FROM lake.towns' &&
	refused 1 "holds changes that were not committed" fdl checkout --stage towns staged.sqlite &&
	fdl commit staged.sqlite -m 'Delete all' &&
	refused 1 "holds versions that were not pushed" fdl checkout towns staged.sqlite &&
	fdl checkout --force towns staged.sqlite 2>err &&
	duck "$(fdl attach-sql --repo towns --working staged.sqlite.old-1) SELECT count(*) FROM lake.towns" >actual &&
	echo 0 >expect &&
	test_cmp expect actual
END

test_expect_success 'a repository that is moved is found again by checkout' - <<\END
	mv towns elsewhere &&
	test_expect_code 128 fdl status staged.sqlite &&
	fdl checkout --stage elsewhere again.sqlite &&
	duck "$(fdl attach-sql --repo elsewhere --working again.sqlite) SELECT count(*) > 0 FROM lake.towns" >actual &&
	echo true >expect &&
	test_cmp expect actual
END

test_expect_success 'a file of another place is refused, whatever the catalog says of itself' - <<\END
	one='WHERE data_file_id = (SELECT min(data_file_id) FROM ducklake_data_file)' &&
	sqlite again.sqlite "UPDATE ducklake_data_file SET path = '/etc/hostname' $one" &&
	refused 128 "names a file outside its data folder: '/etc/hostname'" fdl commit again.sqlite -m bad &&
	sqlite again.sqlite "UPDATE ducklake_data_file SET path = '/etc/main/towns/../../hostname' $one;
UPDATE fdl_checkout SET value = '/etc/' WHERE key = 'published'" &&
	refused 128 "names a file" fdl commit again.sqlite -m bad
END

test_expect_success 'an empty lake has no files to name' '
	test_expect_code 129 fdl-thaw-catalog --data-path . --published x --empty none.sqlite &&
	fdl init new && fdl checkout --stage new new.sqlite &&
	duck "$(fdl attach-sql --repo new --working new.sqlite) CREATE TABLE lake.t AS SELECT 1 AS i" &&
	test_path_is_missing new/data &&
	fdl commit new.sqlite -m one && fdl push new.sqlite &&
	test "$(duck "$(fdl url --sql new) FROM lake.t")" = 1
'

test_done
