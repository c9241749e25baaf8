#!/bin/sh

test_description='what is a difference between two catalogs, and what is none'

. "${0%/*}/test-lib.sh"

data=$TRASH_DIRECTORY/data

# change SQL: makes case.sqlite of the base and changes it.
change() {
	rm -f case.sqlite* &&
	cp base.sqlite case.sqlite &&
	duck "ATTACH 'ducklake:case.sqlite' AS lake (DATA_PATH '$data', OVERRIDE_DATA_PATH true, META_TYPE 'sqlite',
		DATA_INLINING_ROW_LIMIT ${inlining:-0}); $1"
}

difference() {
	fdl-diff-catalog --data-path "$data" base.duckdb case.sqlite >difference
}

# same SQL: after it the catalog is not different from the base, neither working nor frozen.
same() {
	change "$1" &&
	difference &&
	test_line_count 0 difference &&
	rm -f case.duckdb &&
	fdl-freeze-catalog --parent base.duckdb --data-path "$data" case.sqlite case.duckdb &&
	fdl-diff-catalog --quiet --data-path "$data" base.duckdb case.duckdb
}

# differs SQL LINE...: after it just these differences are told.
differs() {
	change "$1" &&
	shift &&
	test_expect_code 1 difference &&
	printf '%s\n' "$@" >expect &&
	test_cmp expect difference &&
	test_expect_code 1 fdl-diff-catalog --quiet --data-path "$data" base.duckdb case.sqlite >quiet &&
	test_line_count 0 quiet
}

test_expect_success 'setup' - <<\END
	duck "ATTACH 'ducklake:base.sqlite' AS lake (META_TYPE 'sqlite', DATA_PATH '$data', DATA_INLINING_ROW_LIMIT 5);
		CREATE TABLE lake.t (i INTEGER, s VARCHAR);
		INSERT INTO lake.t SELECT i, 'row ' || i FROM range(20) t(i);
		DELETE FROM lake.t WHERE i = 7;
		INSERT INTO lake.t VALUES (5, 'row 5'), (NULL, NULL);
		CREATE TABLE lake.v (d DOUBLE, l VARCHAR[], ll INTEGER[][], st STRUCT(a INTEGER), p INTERVAL, m MAP(VARCHAR, INTEGER), j JSON);
		INSERT INTO lake.v SELECT 0.0, [], [[1], [2]], {'a': NULL}, INTERVAL 1 month, MAP {'a': 1, 'b': 2}, '[]' FROM range(6);
		CREATE TABLE lake.dup AS SELECT * FROM (VALUES (1), (1), (2)) v(i), range(2);
		CREATE TABLE lake.none (i INTEGER);
		CREATE SCHEMA lake.s;
		CREATE TABLE lake.s.\"a b\" AS SELECT 1 AS i;
		CREATE VIEW lake.w AS SELECT 1 AS one;
		CREATE MACRO lake.mac(x) AS x + 1;
		COMMENT ON TABLE lake.t IS 'about t';" &&
	fdl-freeze-catalog --data-path "$data" base.sqlite base.duckdb
END

test_expect_success 'nothing done is no difference' '
	same ""
'

test_expect_success 'statements that change no row are none' '
	same "DELETE FROM lake.t WHERE i = 1000" &&
	same "INSERT INTO lake.t VALUES (1000, NULL); DELETE FROM lake.t WHERE i = 1000" &&
	same "UPDATE lake.t SET s = s"
'

test_expect_success 'the same rows deleted and inserted again are none' - <<\END
	same "DELETE FROM lake.t WHERE i = 3; INSERT INTO lake.t VALUES (3, 'row 3')" &&
	same "BEGIN; CREATE TEMP TABLE keep AS FROM lake.t; DELETE FROM lake.t; INSERT INTO lake.t FROM keep ORDER BY s DESC; COMMIT" &&
	inlining=5 same "DELETE FROM lake.t WHERE i = 3; INSERT INTO lake.t VALUES (3, 'row 3')"
END

test_expect_success 'a table replaced by its own rows is none' '
	same "CREATE OR REPLACE TABLE lake.t AS FROM lake.t; COMMENT ON TABLE lake.t IS '\''about t'\''" &&
	same "CREATE OR REPLACE TABLE lake.v AS FROM lake.v" &&
	same "CREATE OR REPLACE VIEW lake.w AS SELECT 1 AS one"
'

test_expect_success 'flushing, merging and rewriting are none' - <<\END
	same "CALL ducklake_flush_inlined_data('lake')" &&
	same "CALL ducklake_flush_inlined_data('lake'); CALL ducklake_merge_adjacent_files('lake');
		CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)" &&
	same "CALL ducklake_expire_snapshots('lake', older_than => now())"
END

test_expect_success 'what only writers see is none' '
	same "CALL lake.set_option('\''parquet_compression'\'', '\''zstd'\'')" &&
	same "ALTER TABLE lake.t SET PARTITIONED BY (i)" &&
	same "ALTER TABLE lake.t SET SORTED BY (i)" &&
	same "ALTER TABLE lake.t ALTER COLUMN i SET DEFAULT 3"
'

test_expect_success 'a name changed and changed back is none' '
	same "ALTER TABLE lake.t RENAME TO u; ALTER TABLE lake.u RENAME TO t" &&
	same "ALTER TABLE lake.t RENAME COLUMN i TO k; ALTER TABLE lake.t RENAME COLUMN k TO i"
'

test_expect_success 'one cell of a table is a difference, in a file and in the catalog' - <<\END
	differs "UPDATE lake.t SET s = 'other' WHERE i = 4" "M	table	main.t	21	21" &&
	differs "UPDATE lake.t SET s = NULL WHERE i = 4" "M	table	main.t	21	21" &&
	inlining=5 differs "UPDATE lake.t SET s = 'other' WHERE i = 4" "M	table	main.t	21	21" &&
	differs "UPDATE lake.t SET s = '' WHERE s IS NULL" "M	table	main.t	21	21"
END

test_expect_success 'values that are alike are not taken for each other' - <<\END
	for value in "d = '-0.0'" "d = 'NaN'" "d = NULL" "l = NULL" "l = [NULL]" "l = ['']" "ll = [[1, 2]]" "ll = [[1], [2], []]" \
		"st = NULL" "st = {'a': 0}" "p = INTERVAL 30 days" "p = INTERVAL 0 days" "m = MAP {'a': 2, 'b': 1}" "m = MAP {}" \
		"j = NULL" "j = '[ ]'"
	do
		differs "UPDATE lake.v SET $value" "M	table	main.v	6	6" || return 1
	done
END

test_expect_success 'rows are counted, not only known' '
	differs "CREATE OR REPLACE TABLE lake.dup AS SELECT * FROM (VALUES (1), (2), (2)) v(i), range(2)" \
		"M	table	main.dup	6	6"
'

test_expect_success 'more and fewer rows are told with their numbers' '
	differs "INSERT INTO lake.none VALUES (1)" "M	table	main.none	0	1" &&
	differs "DELETE FROM lake.t" "M	table	main.t	21	0" &&
	differs "DELETE FROM lake.t WHERE i < 3; INSERT INTO lake.dup VALUES (9, 9)" \
		"M	table	main.dup	6	7" "M	table	main.t	21	18"
'

test_expect_success 'columns are a difference: new, dropped, renamed, of another type or order' '
	differs "ALTER TABLE lake.t ADD COLUMN n INTEGER" "M	table	main.t	21	21" &&
	differs "ALTER TABLE lake.t DROP COLUMN s" "M	table	main.t	21	21" &&
	differs "ALTER TABLE lake.t RENAME COLUMN s TO r" "M	table	main.t	21	21" &&
	differs "ALTER TABLE lake.t ALTER COLUMN i TYPE BIGINT" "M	table	main.t	21	21" &&
	differs "CREATE OR REPLACE TABLE lake.t AS SELECT s, i FROM lake.t; COMMENT ON TABLE lake.t IS '\''about t'\''" \
		"M	table	main.t	21	21" &&
	differs "ALTER TABLE lake.dup ALTER COLUMN i SET NOT NULL" "M	table	main.dup	6	6" &&
	differs "ALTER TABLE lake.v RENAME COLUMN st.a TO b" "M	table	main.v	6	6"
'

test_expect_success 'names and what is attached to them are a difference' - <<\END
	differs "CREATE TABLE lake.s.x (i INTEGER)" "A	table	s.x	-	0" &&
	differs "DROP TABLE lake.dup" "D	table	main.dup	6	-" &&
	differs "ALTER TABLE lake.dup RENAME TO \"d u p\"" "A	table	main.\"d u p\"	-	6" "D	table	main.dup	6	-" &&
	differs "CREATE SCHEMA lake.z; CREATE TABLE lake.z.t (i INTEGER)" "A	schema	z	-	-" "A	table	z.t	-	0" &&
	differs "DROP SCHEMA lake.s CASCADE" "D	schema	s	-	-" "D	table	s.\"a b\"	1	-" &&
	differs "COMMENT ON TABLE lake.t IS 'else'" "M	table	main.t	21	21" &&
	differs "COMMENT ON COLUMN lake.t.i IS 'i'" "M	table	main.t	21	21" &&
	differs "CREATE OR REPLACE VIEW lake.w AS SELECT 2 AS two" "M	view	main.w	-	-" &&
	differs "COMMENT ON VIEW lake.w IS 'c'" "M	view	main.w	-	-" &&
	differs "DROP MACRO lake.mac; CREATE MACRO lake.mac(x) AS x + 2" "M	macro	main.mac	-	-" &&
	differs "CREATE MACRO lake.tab() AS TABLE SELECT 1" "A	macro	main.tab	-	-"
END

test_expect_success 'a data file that is missing is an error and no difference' - <<\END
	change "DELETE FROM lake.dup WHERE i = 2; INSERT INTO lake.dup VALUES (2, 0), (2, 1)" &&
	difference &&
	mv "$data" moved &&
	test_when_finished "mv moved '$data'" &&
	refused 3 "dup/ducklake-.*is in none of the data folders" \
		fdl-diff-catalog --data-path "$data" base.duckdb case.sqlite &&
	fdl-diff-catalog --data-path nowhere --data-path moved base.duckdb case.sqlite
END

test_expect_success 'files that both catalogs name are not read' - <<\END
	change "INSERT INTO lake.dup VALUES (3, 3)" &&
	mv "$data" moved &&
	test_when_finished "mv moved '$data'" &&
	test_expect_code 1 difference &&
	fdl-diff-catalog --data-path "$data" base.duckdb base.sqlite
END

test_done
