#!/bin/sh

test_description='what DuckLake tidies up in a working catalog never takes a file from a pushed version'

. "${0%/*}/test-lib.sh"

# read_all: all that readers of each version read, at each of its snapshots.
read_all() {
	fdl log --format %H towns >ids &&
	while read -r id
	do
		echo "$id" && lake states "$(fdl url towns "$id")" "$TRASH_DIRECTORY/towns/data" || return 1
	done <ids
}

# kept: every file that was there before is there still.
kept() {
	tree towns/data | sort >after && comm -23 before after >lost && test_line_count 0 lost
}

test_expect_success 'setup: versions with files that were replaced since' - <<\END
	setup_towns &&
	publish "CREATE TABLE lake.parts (k VARCHAR, v INTEGER); ALTER TABLE lake.parts SET PARTITIONED BY (k);
		INSERT INTO lake.parts SELECT ['a', 'b'][1 + i % 2], i FROM range(30) t(i);
		DELETE FROM lake.parts WHERE v < 5" 'Add parts' &&
	publish "DELETE FROM lake.parts WHERE v < 9; UPDATE lake.towns SET population = population + 1" 'Change much' &&
	read_all >expect &&
	tree towns/data | sort >before
END

test_expect_success 'cleanup_old_files removes nothing' - <<\END
	work "DELETE FROM lake.parts WHERE v < 12; CALL ducklake_merge_adjacent_files('lake');
		CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01);
		CALL ducklake_expire_snapshots('lake', older_than => now());
		CALL ducklake_cleanup_old_files('lake', cleanup_all => true)" &&
	kept &&
	read_all >actual &&
	test_cmp expect actual
END

test_expect_success 'CHECKPOINT removes nothing' '
	work "CHECKPOINT lake" &&
	kept &&
	read_all >actual &&
	test_cmp expect actual
'

test_expect_success 'nor do both without what checkout added, as soon as a version was pushed and checked out again' - <<\END
	fdl commit lake.sqlite -m 'Leave out more' &&
	fdl push lake.sqlite &&
	fdl checkout towns other.sqlite &&
	duck "$(fdl attach-sql --repo towns --working other.sqlite)
		DROP TABLE lake.parts;
		CALL ducklake_expire_snapshots('lake', older_than => now());
		CALL ducklake_cleanup_old_files('lake', cleanup_all => true); CHECKPOINT lake" &&
	kept
END

test_expect_success 'the lake that is pushed after that has its rows' - <<\END
	fdl commit lake.sqlite --allow-empty -m 'Tidied' &&
	fdl push lake.sqlite &&
	work "FROM lake.parts ORDER BY ALL" >expect &&
	duck "$(fdl url --sql towns) FROM lake.parts ORDER BY ALL" >actual &&
	test_line_count 18 expect &&
	test_cmp expect actual
END

test_expect_success 'what delete_orphaned_files removed is named by commit' - <<\END
	cp -R towns/data saved &&
	work "UPDATE lake.towns SET population = population + 1;
		CALL ducklake_expire_snapshots('lake', older_than => now());
		CALL ducklake_delete_orphaned_files('lake', cleanup_all => true)" &&
	! kept &&
	tree lake.sqlite.fdl >work &&
	test_expect_code 3 fdl commit lake.sqlite -m 'Too late' 2>err &&
	sed -n "s/^data[^ ]* \(.*\)	missing\$/\1/p; s,^data/\(.*\)	missing\$,\1,p" err >named &&
	test -s named &&
	while read -r key
	do
		test -f "saved/$key" && test ! -e "towns/data/$key" || return 1
	done <named &&
	grep "^hint: restore" err &&
	tree lake.sqlite.fdl >after &&
	test_cmp work after
END

test_expect_success 'and with the files back it commits' '
	cp -R saved/. towns/data/ &&
	fdl commit lake.sqlite -m "In time"
'

test_expect_success 'what was removed between commit and push is named by push' - <<\END
	lost=$(fdl-ls-version --repo lake.sqlite.fdl --not "$(fdl-resolve-ref --repo towns HEAD)" HEAD | head -n 1 | cut -f 1) &&
	test -f "towns/$lost" &&
	mv "towns/$lost" moved &&
	cp -R towns towns.before &&
	test_expect_code 3 fdl push lake.sqlite 2>err &&
	test_grep "^$lost	missing$" err &&
	cmp towns/refs/heads/main towns.before/refs/heads/main &&
	cmp towns/refs.json towns.before/refs.json
END

test_expect_success 'a file that was cut off is named with its size' - <<\END
	head -c 10 moved >"towns/$lost" &&
	test_expect_code 3 fdl push lake.sqlite 2>err &&
	test_grep "^$lost	10 bytes instead of $(wc -c <moved | tr -d ' ')$" err &&
	mv moved "towns/$lost" &&
	fdl push lake.sqlite
END

test_done
