#!/bin/sh

test_description='catalogs that are damaged, hostile or not what they should be'

. "${0%/*}/test-lib.sh"

data=$TRASH_DIRECTORY/data

# bad_working SQL PATTERN: with the change, a working catalog is refused in one line, and nothing is left behind.
bad_working() {
	rm -f bad.sqlite* && cp good.sqlite bad.sqlite && sqlite bad.sqlite "$1" && not_frozen "$2"
}

not_frozen() {
	ls -a >before &&
	refused 128 "$1" fdl-freeze-catalog --parent good.duckdb --data-path "$data" bad.sqlite new.duckdb &&
	ls -a >after &&
	test_cmp before after
}

# bad_frozen SQL PATTERN: the same for a frozen catalog, whatever is done with it.
bad_frozen() {
	rm -f bad.duckdb bad.thawed && cp good.duckdb bad.duckdb && duck "ATTACH 'bad.duckdb' AS f; USE f; $1" && not_read "$2"
}

not_read() {
	refused 128 "$1" fdl-ls-files bad.duckdb &&
	refused 128 "$1" fdl-build-files-json bad.duckdb
}

not_opened() {
	not_read "$1" &&
	refused 128 "$1" fdl-thaw-catalog --data-path "$data" bad.duckdb bad.thawed &&
	test_path_is_missing bad.thawed &&
	refused 128 "$1" fdl-build-dataset-json bad.duckdb &&
	refused 128 "$1" fdl-diff-catalog --data-path "$data" good.duckdb bad.duckdb &&
	refused 128 "$1" fdl-diff-catalog --data-path "$data" bad.duckdb good.duckdb &&
	refused 128 "$1" fdl-freeze-catalog --parent bad.duckdb --data-path "$data" good.sqlite new.duckdb &&
	test_path_is_missing new.duckdb
}

test_expect_success 'setup' - <<\END
	touch refused.out refused.err before after &&
	fdl-thaw-catalog --empty --data-path "$data" good.sqlite &&
	duck "ATTACH 'ducklake:good.sqlite' AS lake (META_TYPE 'sqlite', DATA_INLINING_ROW_LIMIT 0);
		CREATE TABLE lake.t AS SELECT i, 'row ' || i AS s FROM range(20) t(i); DELETE FROM lake.t WHERE i = 3" &&
	fdl-freeze-catalog --data-path "$data" good.sqlite good.duckdb &&
	cp good.duckdb bad.duckdb
END

test_expect_success 'what is no file' '
	refused 3 "'\''missing'\'' does not exist" fdl-ls-files missing &&
	refused 128 "directory" fdl-ls-files "$TRASH_DIRECTORY" &&
	refused 3 "'\''missing'\'' does not exist" fdl-freeze-catalog --data-path "$data" missing x.duckdb &&
	refused 3 "'\''missing'\'' does not exist" fdl-close-catalog missing
'

test_expect_success 'what is neither SQLite nor DuckDB' '
	for content in "" "text" "SQLite format" "{}"
	do
		printf "%s" "$content" >bad.sqlite &&
		not_frozen "is no catalog\|is empty" &&
		refused 128 "is no catalog\|is empty" fdl-close-catalog bad.sqlite || return 1
	done
'

test_expect_success 'a database that is no catalog' - <<\END
	rm -f bad.sqlite bad.duckdb &&
	sqlite bad.sqlite "CREATE TABLE t (i)" &&
	not_frozen "'bad.sqlite' is no catalog" &&
	duck "ATTACH 'bad.duckdb' AS f; CREATE TABLE f.t (i INTEGER)" &&
	not_opened "'bad.duckdb' is no catalog" &&
	refused 128 "a working catalog is SQLite" fdl-freeze-catalog --data-path "$data" good.duckdb x.duckdb
END

test_expect_success 'a file that is cut off or overwritten' '
	for size in 100 5000 20000
	do
		head -c $size good.sqlite >bad.sqlite &&
		not_frozen "bad.sqlite" || return 1
	done &&
	for size in 100 5000 20000 100000
	do
		head -c $size good.duckdb >bad.duckdb &&
		not_opened "bad.duckdb" || return 1
	done
'

test_expect_success 'a frozen catalog with noise in it is refused or read, without a crash' - <<\END
	size=$(wc -c <good.duckdb) && at=4096 && faults=0 &&
	while test $at -lt "$size"
	do
		cp good.duckdb bad.duckdb &&
		printf '\377\377\377\377\377\377\377\377' | dd of=bad.duckdb bs=1 seek=$at conv=notrunc 2>/dev/null &&
		fdl-ls-files bad.duckdb >out 2>err
		case $? in
		0) ;;
		128) one_line err && faults=$((faults + 1)) || return 1 ;;
		*) cat err && return 1 ;;
		esac
		at=$((at + 7919))
	done &&
	test $faults -gt 0
END

test_expect_success 'a table that is missing or lacks a column' '
	for table in metadata snapshot schema table column data_file delete_file view tag
	do
		bad_working "DROP TABLE ducklake_$table" "bad.sqlite\|working catalog" &&
		bad_frozen "DROP TABLE ducklake_$table" "bad.duckdb" || return 1
	done &&
	bad_working "ALTER TABLE ducklake_data_file DROP COLUMN file_size_bytes" "bad.sqlite" &&
	bad_frozen "ALTER TABLE ducklake_data_file DROP COLUMN path_is_relative" "bad.duckdb"
'

test_expect_success 'values of another type than their columns' - <<\END
	bad_working "UPDATE ducklake_snapshot SET next_file_id = 'many'" "'next_file_id' is no BIGINT" &&
	bad_working "UPDATE ducklake_data_file SET path = x'ff00'" "'path' is no VARCHAR" &&
	bad_working "UPDATE ducklake_data_file SET path = CAST(x'ff41' AS TEXT)" "'path' is no VARCHAR" &&
	bad_working "UPDATE ducklake_data_file SET path_is_relative = 7" "'path_is_relative' is no BOOLEAN" &&
	bad_working "UPDATE ducklake_snapshot SET snapshot_time = 'yesterday'" "snapshot_time\|ducklake_snapshot" &&
	bad_working "UPDATE ducklake_table SET table_uuid = 'x'" "ducklake_table" &&
	bad_working "CREATE TABLE ducklake_more (x GEOMETRY)" "'x' has type 'GEOMETRY'"
END

test_expect_success 'no snapshot, no schema, no data path' '
	bad_working "DELETE FROM ducklake_snapshot" "has no snapshot" &&
	bad_working "DELETE FROM ducklake_schema" "is damaged" &&
	bad_frozen "DELETE FROM ducklake_schema" "bad.duckdb.* is damaged: a file belongs to no table\|outside"
'

test_expect_success 'files outside the data folder, or whose names are no keys' - <<\END
	for path in ../x.parquet a/../../x a//b ./a a/. 'a%20b' 'a\b' 'a?b' 'a#b' ''
	do
		bad_working "UPDATE ducklake_data_file SET path = '$path'" "'bad.sqlite' names a file that cannot be published" &&
		bad_frozen "UPDATE ducklake_delete_file SET path = '$path'" "'bad.duckdb' names a file that cannot be published" || return 1
	done &&
	bad_working "UPDATE ducklake_data_file SET path = 'a' || char(10) || 'b'" "cannot be published" &&
	bad_working "UPDATE ducklake_data_file SET path = '/etc/passwd', path_is_relative = 0" \
		"'bad.sqlite' names a file outside its data folder: '/etc/passwd'" &&
	bad_working "UPDATE ducklake_data_file SET path = 's3://other/x', path_is_relative = 0" "outside its data folder" &&
	bad_frozen "UPDATE ducklake_table SET path = '/etc/', path_is_relative = false" "outside its data folder" &&
	bad_frozen "UPDATE ducklake_schema SET path = '../'" "cannot be published"
END

test_expect_success 'a file without a path or a table, or with two sizes' '
	bad_working "UPDATE ducklake_data_file SET path = NULL" "is damaged" &&
	bad_working "UPDATE ducklake_data_file SET table_id = 77" "is damaged" &&
	bad_frozen "UPDATE ducklake_data_file SET file_size_bytes = -1" "has two sizes, or less than none" &&
	bad_frozen "UPDATE ducklake_data_file SET file_size_bytes = NULL" "bad.duckdb" &&
	bad_frozen "INSERT INTO ducklake_data_file SELECT * REPLACE (99 AS data_file_id, 5 AS file_size_bytes) FROM ducklake_data_file" \
		"has two sizes"
'

test_expect_success 'added files stay outside and are refused by name' - <<\END
	rm -f bad.sqlite* &&
	cp good.sqlite bad.sqlite &&
	duck "COPY (SELECT 1::BIGINT AS i, 'x' AS s) TO 'mine.parquet' (FORMAT parquet);
		ATTACH 'ducklake:bad.sqlite' AS lake (META_TYPE 'sqlite');
		CALL ducklake_add_data_files('lake', 't', '$TRASH_DIRECTORY/mine.parquet')" &&
	not_frozen "outside its data folder: '.*mine.parquet'"
END

test_expect_success 'deletes that are not in Parquet' - <<\END
	rm -f bad.sqlite* &&
	cp good.sqlite bad.sqlite &&
	duck "ATTACH 'ducklake:bad.sqlite' AS lake (META_TYPE 'sqlite', DATA_INLINING_ROW_LIMIT 0, WRITE_DELETION_VECTORS true);
		DELETE FROM lake.t WHERE i = 9" &&
	not_frozen "deletes that are not Parquet" &&
	grep "^hint: .*WRITE_DELETION_VECTORS" refused.err
END

test_expect_success 'another lake than that of the parent' '
	rm -f bad.sqlite &&
	fdl-thaw-catalog --empty --data-path "$data" bad.sqlite &&
	not_frozen "is another lake" &&
	grep "^hint: .*fdl checkout" refused.err
'

test_expect_success 'a lake that was taken back to before its parent, or whose past was changed' '
	bad_working "DELETE FROM ducklake_snapshot WHERE snapshot_id = 2" "was not made from its parent" &&
	bad_working "UPDATE ducklake_snapshot SET snapshot_time = '\''2020-01-01 00:00:00+00'\'' WHERE snapshot_id = 2" \
		"was not made from its parent"
'

test_expect_success 'a view in the place of a table reads no file' - <<\END
	echo secret >secret.csv &&
	bad_frozen "DROP TABLE ducklake_data_file;
		CREATE VIEW ducklake_data_file AS SELECT 1 AS data_file_id, * FROM read_csv('$TRASH_DIRECTORY/secret.csv')" \
		"'bad.duckdb' is no catalog: 'ducklake_data_file' is a view" &&
	not_opened "is a view" &&
	! grep secret refused.out refused.err
END

test_expect_success 'nor do macros, schemas and types under the names of ours' - <<\END
	cp good.duckdb bad.duckdb &&
	duck "ATTACH 'bad.duckdb' AS f; USE f;
		CREATE MACRO coalesce(a, b) AS 'x'; CREATE MACRO max(a) AS -1; CREATE MACRO duckdb_tables() AS TABLE SELECT 1;
		CREATE SCHEMA c; CREATE TABLE c.ducklake_data_file (i INTEGER); CREATE TYPE mood AS ENUM ('x')" &&
	fdl-ls-files good.duckdb >expect &&
	fdl-ls-files bad.duckdb >actual &&
	test_cmp expect actual
END

test_expect_success 'a view in a working catalog' '
	bad_working "ALTER TABLE ducklake_data_file RENAME TO x;
CREATE VIEW ducklake_data_file AS SELECT * FROM x" "is a view\|no table"
'

test_expect_success 'unknown names are told by fdl-ls-files' '
	refused 3 "has no snapshot 99" fdl-ls-files --snapshot 99 good.duckdb &&
	test_expect_code 129 fdl-ls-files --snapshot x good.duckdb
'

test_done
