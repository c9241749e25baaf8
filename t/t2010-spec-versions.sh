#!/bin/sh

test_description='catalogs of older DuckLake specs, written and read by the DuckDB releases of their time'

. "${0%/*}/test-lib.sh"

data=$TRASH_DIRECTORY/data

# older RELEASE SPEC INLINED: the whole way with the release that writes the spec.
older() {
	release=$1 spec=$2 inlined=$3 catalog=$1.sqlite
	duck --release "$release" "ATTACH 'ducklake:$catalog' AS lake (META_TYPE 'sqlite', DATA_PATH '$data/$release', DATA_INLINING_ROW_LIMIT $inlined);
		CREATE TABLE lake.t (i INTEGER, s VARCHAR, d DATE, n DECIMAL(9,3), l VARCHAR[]);
		INSERT INTO lake.t SELECT i, 'row ' || i, DATE '2026-01-01' + i::INTEGER, i / 3, ['x'] FROM range(30) t(i);
		INSERT INTO lake.t VALUES (100, 'O''Brien', NULL, -1.5, []);
		ALTER TABLE lake.t ADD COLUMN note VARCHAR DEFAULT 'none';
		INSERT INTO lake.t VALUES (101, NULL, '2026-02-02', 0, NULL, 'b');
		DELETE FROM lake.t WHERE i % 4 = 0;
		DELETE FROM lake.t WHERE i % 5 = 0;
		UPDATE lake.t SET note = 'changed' WHERE i = 3;
		CREATE VIEW lake.v AS SELECT max(i) AS m FROM lake.t;
		CREATE TABLE lake.gone AS SELECT 1 AS i;
		DROP TABLE lake.gone;
		COMMENT ON TABLE lake.t IS 'c';" &&
	fdl-freeze-catalog --data-path "$data/$release" "$catalog" "$release.duckdb" &&
	fdl-thaw-catalog --data-path "$data/$release" "$release.duckdb" "$release.thawed" &&
	test "$(sqlite "$release.thawed" "SELECT value FROM ducklake_metadata WHERE key = 'version'")" = "$spec" &&
	all_same "$release" || return 1
	for one in "$catalog" "$release.thawed"
	do
		duck --release "$release" "ATTACH 'ducklake:$one' AS lake (META_TYPE 'sqlite', DATA_PATH '$data/$release/', OVERRIDE_DATA_PATH true);
			DELETE FROM lake.t WHERE i = 11;
			INSERT INTO lake.t SELECT i, 'late', NULL, NULL, NULL, NULL FROM range(200, 220) t(i);
			ALTER TABLE lake.t ADD COLUMN more INTEGER" || return 1
	done
	rm "$release.duckdb" &&
	fdl-freeze-catalog --data-path "$data/$release" "$release.thawed" "$release.duckdb" &&
	all_same "$release"
}

# all_same RELEASE: the working, the thawed and the frozen catalog say the same, and name the files that DuckLake names.
all_same() {
	lake --release "$1" states "$1.sqlite" "$data/$1" >told &&
	cut -f 1 told | sort -nu >snapshots || return 1
	for one in "$1.sqlite" "$1.thawed" "$1.duckdb"
	do
		lake --release "$1" states "$one" "$data/$1" >actual &&
		test_cmp told actual &&
		lake --release "$1" files "$one" "$data/$1" | sort >named &&
		test -s named &&
		while read -r snapshot
		do
			fdl-ls-files --snapshot "$snapshot" "$one" >listed &&
			sed "s/^/$snapshot	/" listed || return 1
		done <snapshots | sort >actual &&
		test_cmp named actual || return 1
	done
}

test_expect_success 'spec 0.3, as DuckDB 1.4.4 writes it' '
	older 1.4.4 0.3 0
'

test_expect_success 'spec 0.3 with rows in the catalog' '
	mv data data.files && rm -f 1.4.4* &&
	older 1.4.4 0.3 10
'

test_expect_success 'spec 0.4, as DuckDB 1.5.0 writes it' '
	older 1.5.0 0.4 10
'

test_expect_success 'the same rows from two releases are no difference, one more row is' - <<\END
	fdl-diff-catalog --data-path "$data/1.5.0" --data-path "$data/1.4.4" 1.4.4.duckdb 1.5.0.duckdb &&
	duck --release 1.5.0 "ATTACH 'ducklake:1.5.0.thawed' AS lake (META_TYPE 'sqlite'); INSERT INTO lake.t (i) VALUES (1)" &&
	test_expect_code 1 fdl-diff-catalog --data-path "$data/1.5.0" --data-path "$data/1.4.4" 1.4.4.duckdb 1.5.0.thawed >actual &&
	test_grep '^M	table	main.t	' actual
END

test_expect_success 'a spec that is not known is refused by its name' - <<\END
	for version in 0.1 0.2 1.1 1.1-dev.1 2.0 "" x
	do
		rm -f other.sqlite &&
		cp 1.5.0.thawed other.sqlite &&
		sqlite other.sqlite "UPDATE ducklake_metadata SET value = '$version' WHERE key = 'version'" &&
		refused 128 "'other.sqlite' is a DuckLake catalog of spec version '$version'; known are" \
			fdl-freeze-catalog --data-path "$data" other.sqlite other.duckdb &&
		test_path_is_missing other.duckdb || return 1
	done
END

test_done
