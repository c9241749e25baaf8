#!/bin/sh

test_description='a lake comes back from frozen and thawed catalogs as it was'

. "${0%/*}/test-lib.sh"

data=$TRASH_DIRECTORY/data

# states CATALOG: all that the lake says at each snapshot.
states() {
	lake states "$1" "$data"
}

# write_on CATALOG: some of everything once more, as a writer who checked the lake out would.
write_on() {
	duck "ATTACH 'ducklake:$1' AS lake (DATA_PATH '$data', OVERRIDE_DATA_PATH true, META_TYPE 'sqlite', DATA_INLINING_ROW_LIMIT 0);
		INSERT INTO lake.towns (id, label, level) SELECT 400 + i, 'later ' || i, i FROM range(20) t(i);
		DELETE FROM lake.towns WHERE id % 11 = 0;
		UPDATE lake.towns SET country = 'NO' WHERE id BETWEEN 200 AND 204;
		ALTER TABLE lake.towns ADD COLUMN last INTEGER DEFAULT 1;
		ALTER TABLE lake.nested ADD COLUMN place.z VARCHAR;
		INSERT INTO lake.parts SELECT 'later', NULL, i FROM range(3) t(i);
		INSERT INTO lake.bare VALUES (9);
		DELETE FROM lake.bare WHERE i = 202;
		CALL ducklake_flush_inlined_data('lake', table_name => 'bare');
		CREATE TABLE lake.new AS SELECT * FROM lake.kinds ORDER BY a;
		DROP TABLE lake.renamed;
		CREATE VIEW lake.late AS SELECT max(id) AS m FROM lake.towns;
		COMMENT ON TABLE lake.bare IS 'changed';"
}

test_expect_success 'setup: a lake with every kind of change, in SQLite and in DuckDB' - <<\END
	kinds=$(cat "$TEST_DIRECTORY/fixtures/kinds-of-change.sql") &&
	duck "ATTACH 'ducklake:lake.sqlite' AS lake (META_TYPE 'sqlite', DATA_PATH '$data'); $kinds" &&
	duck "ATTACH 'ducklake:native.duckdb' AS lake (DATA_PATH '$TRASH_DIRECTORY/native'); $kinds" &&
	states lake.sqlite >states &&
	test "$(cut -f 2 states | grep -c snapshot)" -ge 60
END

test_expect_success 'every snapshot is the same in a frozen catalog' '
	tree "$data" >before &&
	cp lake.sqlite untouched.sqlite &&
	fdl-freeze-catalog --data-path "$data" lake.sqlite frozen.duckdb &&
	cmp untouched.sqlite lake.sqlite &&
	states frozen.duckdb >frozen.states &&
	test_cmp states frozen.states &&
	tree "$data" >after &&
	test_cmp before after
'

test_expect_success 'and in one that was thawed' '
	fdl-thaw-catalog --data-path "$data" frozen.duckdb thawed.sqlite &&
	states thawed.sqlite >thawed.states &&
	test_cmp states thawed.states
'

test_expect_success 'a thawed catalog has the tables, types and rows of the one it came from' - <<\END
	# Names are quoted or not, and the text of a nested value has more than one spelling.
	dump() {
		sqlite "$1" "SELECT sql FROM sqlite_master WHERE name LIKE 'ducklake%' ORDER BY name" | tr -d ' "' &&
		sqlite "$1" "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ducklake%' ORDER BY 1" >tables &&
		while read -r table
		do
			case $table in
			ducklake_files_scheduled_for_deletion | ducklake_inlined_data_3_*) ;;
			*) sqlite "$1" "SELECT '$table', * FROM $table" || return 1 ;;
			esac
		done <tables
	} &&
	dump lake.sqlite >original &&
	fdl-thaw-catalog --data-path "$data/" frozen.duckdb again.sqlite &&
	dump again.sqlite >again &&
	! diff original again >difference &&
	grep "^[<>]" difference >lines &&
	cat >expect <<-\EOF &&
	> ducklake_metadata	data_inlining_row_limit	0	None	None
	> ducklake_metadata	delete_older_than	1000 years	None	None
	EOF
	sort lines >actual &&
	test_cmp expect actual
END

test_expect_success 'frozen again after a thaw it is the same' '
	fdl-freeze-catalog --parent frozen.duckdb --data-path "$data" thawed.sqlite refrozen.duckdb &&
	states refrozen.duckdb >refrozen.states &&
	test_cmp states refrozen.states
'

test_expect_success 'the tables of a frozen catalog are those that DuckLake makes itself' - <<\END
	tables() {
		duck "ATTACH '$1' AS f (READ_ONLY); SELECT sql FROM duckdb_tables() WHERE database_name = 'f' ORDER BY table_name"
	} &&
	# JSON is read from text as well, and the library has no such type.
	tables native.duckdb | sed 's/ JSON)/ VARCHAR)/' >expect &&
	tables frozen.duckdb >actual &&
	test_cmp expect actual &&
	grep "ducklake_inlined_data_.*STRUCT" actual
END

test_expect_success 'fdl-ls-files tells what ducklake_list_files tells, at every snapshot' '
	lake files lake.sqlite "$data" >expect &&
	grep delete expect &&
	for catalog in lake.sqlite frozen.duckdb thawed.sqlite
	do
		for snapshot in $(cut -f 1 expect | sort -nu)
		do
			fdl-ls-files --snapshot "$snapshot" "$catalog" | sed "s/^/$snapshot	/" || return 1
		done | sort >actual &&
		sort expect >sorted &&
		test_cmp sorted actual || return 1
	done
'

test_expect_success 'without a snapshot it tells all files that any snapshot needs, each once' '
	cut -f 2- expect | sort -u >files &&
	fdl-ls-files frozen.duckdb | sort >actual &&
	test_cmp files actual &&
	fdl-ls-files -z frozen.duckdb | tr "\0" "\n" | sort >actual &&
	test_cmp files actual
'

test_expect_success 'and files.json holds the same' '
	fdl-build-files-json frozen.duckdb >files.json &&
	python3 -c "
import json
for file in json.load(open(\"files.json\"))[\"files\"]:
    print(file[\"path\"], file[\"size\"], file[\"kind\"], sep=\"\\t\")" | sort >actual &&
	test_cmp files actual
'

test_expect_success 'each size in it is the size of the file' '
	while read -r line
	do
		path=${line%%	*} && size=${line#*	} && size=${size%	*} &&
		test "$(wc -c <"$data/$path")" = "$size" || return 1
	done <files
'

test_expect_success 'a frozen catalog is one small file that every DuckDB from 1.2 on opens' - <<\END
	test_path_is_missing frozen.duckdb.wal &&
	test "$(wc -c <frozen.duckdb)" -lt 6000000 &&
	duck "ATTACH 'frozen.duckdb' AS f (READ_ONLY);
		SELECT block_size FROM pragma_database_size() WHERE database_name = 'f';
		SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'f';
		SELECT value FROM f.ducklake_metadata WHERE key = 'data_path';
		SELECT count(*) FROM f.ducklake_files_scheduled_for_deletion;" >actual &&
	printf "%s\n" 16384 v1.2.0+ "$data/" 0 >expect &&
	test_cmp expect actual
END

test_expect_success 'DuckLake goes on writing in a thawed catalog as in the one it came from' '
	write_on lake.sqlite &&
	write_on thawed.sqlite &&
	states lake.sqlite >expect &&
	states thawed.sqlite >actual &&
	test_cmp expect actual &&
	fdl-freeze-catalog --parent frozen.duckdb --data-path "$data" thawed.sqlite last.duckdb &&
	states last.duckdb >actual &&
	test_cmp expect actual
'

test_expect_success 'an empty lake is as DuckLake makes it, but for the guards' - <<\END
	duck "ATTACH 'ducklake:own.sqlite' AS lake (META_TYPE 'sqlite', DATA_PATH '$data/')" &&
	fdl-thaw-catalog --empty --data-path "$data" empty.sqlite &&
	whole() {
		python3 -c "
import re, sqlite3, sys
for line in sqlite3.connect(sys.argv[1]).iterdump():
    if not re.search(r\"fdl_|delete_older_than|data_inlining_row_limit|hive_file_pattern\", line):
        line = re.sub(r\"[0-9a-f]{8}-[0-9a-f-]{27}\", \"UUID\", line)
        print(re.sub(r\"20..-..-.. ..:..:..[.0-9]*\", \"TIME\", line))" "$1" | tr -d "\"" | sort
	} &&
	whole own.sqlite >expect &&
	whole empty.sqlite >actual &&
	test_cmp expect actual
END

test_expect_success 'each empty lake has an id of its own' '
	fdl-thaw-catalog --empty --data-path "$data" other.sqlite &&
	test "$(sqlite empty.sqlite "SELECT schema_uuid FROM ducklake_schema")" != \
		"$(sqlite other.sqlite "SELECT schema_uuid FROM ducklake_schema")"
'

test_expect_success 'DuckLake writes into an empty lake of ours' - <<\END
	duck "ATTACH 'ducklake:empty.sqlite' AS lake (META_TYPE 'sqlite');
		CREATE TABLE lake.t AS SELECT 1 AS i; SELECT * FROM lake.t" >actual &&
	test "$(cat actual)" = 1
END

test_expect_success 'what is there already is not written over' '
	tree . | grep -v " ./before$\| ./after$\| ./refused" >before &&
	refused 128 "exists already" fdl-freeze-catalog --data-path "$data" lake.sqlite frozen.duckdb &&
	refused 128 "exists already" fdl-thaw-catalog --data-path "$data" frozen.duckdb thawed.sqlite &&
	refused 128 "exists already" fdl-thaw-catalog --data-path "$data" --empty empty.sqlite &&
	tree . | grep -v " ./before$\| ./after$\| ./refused" >after &&
	test_cmp before after
'

test_done
