#!/bin/sh

test_description='fdl gc: what nothing needs goes once it is old enough, and nothing else'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-gc.sh
. "$TEST_DIRECTORY/lib-gc.sh"

# older DAYS [FILE...]: all that is there gets older, or these files do.
older() {
	days=$1
	shift
	test $# -gt 0 || set -- repo
	python3 -c '
import os, pathlib, sys
for root in map(pathlib.Path, sys.argv[2:]):
    for path in [root, *root.rglob("*")]:
        stat = path.stat()
        os.utime(path, (stat.st_atime, stat.st_mtime - 86400 * int(sys.argv[1])))
' "$days" "$@"
}

# there: the numbers of the data files that are there.
there() {
	find repo/data -name 'ducklake-*' | sed 's,.*-0*\([0-9]*\).parquet,\1,' | sort -n | tr '\n' ' ' | sed 's/ $//'
}

# has WANTED: these data files are there.
has() {
	test "$(there)" = "$1" || {
		echo "there is '$(there)' instead of '$1'"
		return 1
	}
}

# parts ID: the objects of a version that are there.
parts() {
	(cd "repo/versions/$1" && echo *)
}

test_expect_success 'what nothing names goes when it is older than the grace, and not before' '
	line &&
	older 13 &&
	unchanged fdl gc repo >out 2>err &&
	test ! -s out &&
	cat >expect <<-\END &&
	freed 0 (0 B)
	kept 4 (16 B) that versions name
	kept 1 (4 B) that nothing names, written less than 14d ago
	END
	test_cmp expect err &&
	older 2 &&
	data 6 &&
	printf "data/%s\t4\tunnamed\n" "$(path 5)" >expect &&
	fdl gc --grace 16d repo >actual &&
	test ! -s actual &&
	unchanged fdl gc --dry-run repo >out &&
	grep unnamed out >actual &&
	test_cmp expect actual &&
	fdl gc repo >out &&
	grep unnamed out >actual &&
	test_cmp expect actual &&
	has "1 2 3 4 6"
'

test_expect_success 'what DuckLake did not write is never touched' '
	line &&
	for name in notes.txt main/t/mine.parquet "main/t/$(basename "$(path 7)").crc" main/t/ducklake-1.parquet
	do
		echo x >"repo/data/$name" || return 1
	done &&
	mkdir repo/other && cp "repo/data/$(path 5)" repo/other &&
	older 40 &&
	fdl gc repo >out 2>err &&
	test_grep "kept 4 in the data folder that DuckLake did not write" err &&
	test_path_is_missing "repo/data/$(path 5)" &&
	test_path_is_file "repo/data/$(path 7).crc" &&
	test_path_is_file repo/data/notes.txt &&
	test_path_is_file repo/data/main/t/mine.parquet &&
	test_path_is_file repo/data/main/t/ducklake-1.parquet &&
	test_path_is_file "repo/other/$(basename "$(path 5)")"
'

test_expect_success 'a version that no ref leads to is marked first, and its files stay for one grace more' '
	line &&
	older 20 &&
	fdl gc repo >out &&
	sed "s,.*/,," out | sort >actual &&
	{
		printf "%s\t%s\tunreachable\n" dataset.json "$(wc -c <dataset.json)" ducklake.duckdb "$(wc -c <catalog)" &&
		printf "%s\t4\tunnamed\n" "$(basename "$(path 5)")"
	} | sort >expect &&
	test_cmp expect actual &&
	refused 4 "no branch and no tag led to it" fdl url repo "$side" &&
	has "1 2 3 4" &&
	older 13 &&
	unchanged fdl gc repo >out 2>err &&
	test_grep "kept 1 (4 B) that only versions name which were taken away less than 14d ago" err &&
	older 2 &&
	fdl gc repo >out &&
	has "1 2 3" &&
	test_path_is_missing "repo/versions/$side" &&
	unchanged fdl gc repo
'

test_expect_success 'of an expired version the history stays, and its files go with the grace' '
	line &&
	older 20 &&
	fdl gc repo >out &&
	printf "%s\n" "$one" "$two" | fdl-expire-version -m "too old" >out &&
	fdl gc repo >out &&
	has "1 2 3 4" &&
	older 15 &&
	fdl gc repo >out &&
	has "2 3" &&
	for id in $one $two
	do
		test "$(parts "$id")" = "expired.json version.json" || return 1
	done &&
	test_grep "versions/$one/files.json.*expired" out &&
	fdl log repo >log &&
	test_grep "version $one" log &&
	refused 4 "too old" fdl url repo "$one" &&
	fdl-ls-version "$three" | fdl-check-objects
'

test_expect_success 'a push that was cut off: no more than a version that no ref leads to' '
	line &&
	rm "repo/versions/$side/version.json" &&
	older 20 "repo/data" &&
	fdl gc repo >out &&
	has "1 2 3 4" &&
	test_path_is_file "repo/versions/$side/ducklake.duckdb" &&
	older 20 &&
	fdl gc repo >out &&
	test "$(parts "$side")" = "expired.json files.json" &&
	has "1 2 3 4" &&
	older 20 &&
	fdl gc repo >out &&
	has "1 2 3" &&
	test_path_is_missing "repo/versions/$side"
'

test_expect_success 'a tag keeps what it holds, and an older version that is named again keeps its files' '
	line &&
	fdl-update-ref refs/tags/v1 "$side" &&
	older 40 &&
	fdl gc repo >out &&
	has "1 2 3 4" &&
	fdl-update-ref -d refs/tags/v1 &&
	fdl-expire-version <<-END >out &&
	$one
	$two
	END
	again=$(version again "$(names 1)" --parent "$three") &&
	fdl-update-ref refs/heads/main "$again" "$three" &&
	older 40 &&
	fdl gc repo >out &&
	older 40 &&
	fdl gc repo >out &&
	has "1 2 3" &&
	fdl-ls-version "$again" | fdl-check-objects
'

test_expect_success 'what cannot be read stops everything, and is named' - <<\END
	line && older 40 && cp -R repo good &&
	damaged() {
		rm -rf repo && cp -R good repo && eval "$3" &&
		unchanged refused "$1" "$2" fdl gc repo &&
		unchanged refused "$1" "$2" fdl gc --dry-run repo
	} &&
	damaged 5 "what version $two names cannot be read, so no file was deleted: .*files.json. has sha256" \
		"sed s/8000/8001/ repo/versions/$two/files.json >x && mv x repo/versions/$two/files.json" &&
	damaged 5 "what version $two names cannot be read" "rm repo/versions/$two/files.json" &&
	damaged 128 "nothing was deleted: .*$one/version.json. is damaged" "echo x >repo/versions/$one/version.json" &&
	damaged 5 "nothing was deleted: .*$one/version.json. holds version $two" \
		"cp repo/versions/$two/version.json repo/versions/$one" &&
	damaged 3 "refs lead to version $one, which is not there; nothing was deleted" "rm -r repo/versions/$one" &&
	damaged 128 "refs/heads/main. is damaged" "echo x >repo/refs/heads/main" &&
	damaged 128 "needs the feature .new." \
		"sed 's/\"features\": \[\]/\"features\": [\"new\"]/' repo/fdl.json >x && mv x repo/fdl.json" &&
	damaged 5 "what version $side names cannot be read" \
		"rm repo/versions/$side/version.json && touch repo/versions/$side && echo x >repo/versions/$side/files.json"
END

test_expect_success 'refs and versions that cannot be read may hide others, so nothing goes' - <<\END
	line && older 40 && mv repo/refs elsewhere && mkdir repo/refs && cp -R repo bare && rm -r repo/refs && mv elsewhere repo/refs &&
	cp -R repo good.refs &&
	hidden() {
		rm -rf repo && cp -R good.refs repo && eval "$3" &&
		unchanged refused "$1" "$2" fdl gc repo &&
		echo "$one" >list && unchanged refused "$1" "$2" fdl-expire-version <list
	} &&
	hidden 128 "'refs/heads' is no ref that can be read" "mv repo/refs/heads heads.$$ && ln -s ../../heads.$$ repo/refs/heads" &&
	hidden 128 "'refs/heads/x' is no ref that can be read" "mkfifo repo/refs/heads/x" &&
	hidden 128 "'refs/notes/x' is no ref that can be read" "mkdir repo/refs/notes && echo $side >repo/refs/notes/x" &&
	hidden 75 "'refs/heads/main' is in refs.json and is gone" "rm -r repo/refs" &&
	rm -rf repo && cp -R bare repo && rm repo/refs.json &&
	unchanged refused 128 "has versions, but no branch and no tag; nothing was deleted" fdl gc repo &&
	rm -rf repo && cp -R good.refs repo && mv "repo/versions/$side" side && ln -s ../../side "repo/versions/$side" &&
	unchanged refused 128 "'versions/$side' is no object that can be read" fdl gc repo &&
	rm -rf repo && cp -R good.refs repo && fdl gc repo
END

test_expect_success 'a mark that cannot be read is none, and no catalog goes for it' '
	for mark in "ln -s nowhere" "mkfifo" "touch"
	do
		line && older 40 &&
		$mark "repo/versions/$one/expired.json" &&
		{ echo "$one" | test_must_fail fdl-expire-version; } &&
		test_must_fail fdl gc repo &&
		test_path_is_file "repo/versions/$one/ducklake.duckdb" || return 1
	done
'

test_expect_success 'a longer grace after a shorter one does not want what is used up' '
	line && echo "$one" | fdl-expire-version &&
	fdl gc --grace 0 --force repo &&
	has "1 2 3" &&
	unchanged fdl gc repo &&
	unchanged fdl gc --grace 60d repo
'

test_expect_success 'what is written of a version after its mark is kept for a grace' '
	line && older 40 && fdl gc repo && older 40 &&
	echo catalog >"repo/versions/$side/version.json.sig" &&
	unchanged fdl gc repo &&
	older 40 &&
	fdl gc repo &&
	test_path_is_missing "repo/versions/$side"
'

test_expect_success 'of an expired version in the history, what fdl does not know stays' '
	line && echo x >"repo/versions/$one/stats.json" && echo "$one" | fdl-expire-version && older 40 &&
	fdl gc repo &&
	test "$(parts "$one")" = "expired.json stats.json version.json"
'

test_expect_success 'a standard error that cannot be written is no failure, nor are folders without end' '
	line &&
	fdl gc repo 2>/dev/full &&
	python3 -c "
import os
os.chdir(\"repo/data\")
for _ in range(3000):
    os.mkdir(\"d\")
    os.chdir(\"d\")
" &&
	fdl gc repo &&
	fdl-ls-objects >out 2>err &&
	rm -rf repo
'

test_expect_success 'a grace that is not safe wants --force, and none at all frees everything at once' '
	line &&
	unchanged refused 128 "a grace of 0 is not safe: a push that is under way may lose its files" \
		fdl gc --grace 0 repo &&
	unchanged refused 128 "a grace of 23h is not safe" fdl gc --grace 23h repo &&
	unchanged fdl gc --grace 24h repo &&
	unchanged fdl gc --grace 0 --dry-run repo >expect &&
	fdl gc --grace 0 --force repo >out &&
	has "1 2 3" &&
	test_path_is_missing "repo/versions/$side" &&
	sed "/expired.json/d" out | sort >actual && sort -o expect expect && test_cmp expect actual
'

test_expect_success 'what is wrong on the command line changes nothing' '
	line && older 40 &&
	unchanged test_expect_code 129 fdl gc --grace -1d repo &&
	unchanged test_expect_code 129 fdl gc --grace 3 repo &&
	unchanged test_expect_code 129 fdl gc --json -z repo &&
	unchanged test_expect_code 129 fdl gc repo repo &&
	(unset FDL_REPO && unchanged test_expect_code 129 fdl gc) &&
	echo elsewhere >repo/origin &&
	unchanged refused 128 "belongs to a working catalog" fdl gc repo
'

test_expect_success '--json is a record of it all' '
	line && older 40 &&
	fdl gc --json repo >out &&
	python3 -c "
import json, sys
record = json.load(open(\"out\"))
unnamed = [gone for gone in record[\"objects\"] if gone[\"reason\"] == \"unnamed\"]
assert unnamed == [{\"key\": \"data/\" + sys.argv[1], \"size\": 4, \"reason\": \"unnamed\"}], unnamed
assert record[\"dry_run\"] is False and record[\"fdl\"] == \"1.0\"
assert record[\"freed\"][\"objects\"] == len(record[\"objects\"]) == 3, record
assert record[\"kept\"][\"named\"] == {\"objects\": 3, \"bytes\": 12} , record
assert record[\"kept\"][\"expired\"] == {\"objects\": 1, \"bytes\": 4} , record
" "$(path 5)"
'

test_expect_success 'temporary files of writers that were killed go, those of writers at work stay' '
	line && older 40 &&
	echo partial >"repo/data/main/t/.fdl-tmp-1" &&
	echo partial >"repo/versions/.fdl-tmp-2" &&
	older 15 repo/versions/.fdl-tmp-2 &&
	: >repo/.fdl-lock && older 40 repo/.fdl-lock &&
	fdl gc --dry-run repo >out &&
	test_grep "^versions/.fdl-tmp-2	8	left over" out &&
	fdl gc repo >out &&
	test_grep "^versions/.fdl-tmp-2	8	left over" out &&
	test_path_is_missing repo/versions/.fdl-tmp-2 &&
	test_path_is_file repo/data/main/t/.fdl-tmp-1 &&
	test_path_is_file repo/.fdl-lock
'

# notice AT HOLDER: a gc.json of another run.
notice() {
	printf '{"fdl":"1.0","run":"other","at":"2026-12-01T00:00:00Z",%s"files":["data/%s"]}\n' "$1" "$(path 4)" >repo/gc.json
}

test_expect_success 'there is one gc at a time; one that has ended is taken over' '
	line && older 40 &&
	notice "" &&
	unchanged refused 75 "another gc or expire is at work .* since 2026-12-01T00:00:00Z" fdl gc repo &&
	touch -d "59 minutes ago" repo/gc.json &&
	unchanged refused 75 "another gc or expire is at work" fdl gc repo &&
	unchanged fdl gc --dry-run repo &&
	touch -d "61 minutes ago" repo/gc.json &&
	fdl gc repo >out &&
	has "1 2 3 4" &&
	test_path_is_missing repo/gc.json &&
	notice "\"holder\":{\"boot\":\"$(cat /proc/sys/kernel/random/boot_id)\",\"pid_namespace\":\"$(readlink /proc/self/ns/pid)\",\"pid\":$$,\"started\":1}," &&
	fdl gc repo &&
	test_path_is_missing repo/gc.json &&
	echo x >repo/gc.json &&
	unchanged refused 128 "gc.json. is damaged" fdl gc repo &&
	test_grep "^hint: where no gc and no expire is at work, it can be deleted" refused.err
'

test_expect_success 'whoever names a file that a gc is about to delete is told to try again' '
	line &&
	notice "" &&
	fdl-ls-version "$side" >list &&
	unchanged refused 75 "is about to delete .data/$(path 4)." fdl-check-objects --settle <list &&
	unchanged fdl-check-objects <list &&
	fdl-ls-version "$three" >list &&
	fdl-check-objects --settle <list &&
	echo x >repo/gc.json &&
	refused 128 "gc.json. is damaged" fdl-check-objects --settle <list &&
	fdl-check-objects --settle </dev/null
'

test_expect_success 'killed after each change and run again, it comes to the same end' - <<\END
	prepare() {
		line && older 40 && printf '%s\n' "$one" | fdl-expire-version >out && fdl gc repo >out && older 40 &&
		extra=$(version extra "$(names 4)" --parent "$two") && data 6 7 && older 40 repo/data "repo/versions/$extra"
	} &&
	# The objects, whatever the ids of the versions are.
	objects() {
		(cd repo && find . -type f ! -name ".fdl-tmp-*") |
			sed "s/$extra/extra/; s/$side/side/; s/$one/one/; s/$two/two/; s/$three/three/" | sort
	} &&
	prepare && fdl gc repo >out && objects >expect &&
	writes=1 &&
	while :
	do
		prepare && echo $writes >left || return 1
		FDL_TEST_KILL_AFTER=$PWD/left setsid --wait fdl-gc repo >out
		status=$?
		for id in $three $two
		do
			fdl-ls-version "$id" | fdl-check-objects || return 1
		done
		for id in $side $extra $one
		do
			test -z "$(ls -A "repo/versions/$id" 2>/dev/null)" || test -e "repo/versions/$id/expired.json" ||
				test -e "repo/versions/$id/ducklake.duckdb" || return 1
		done
		test $status != 0 || break
		test $status = 137 && fdl-gc repo >out || return 1
		objects >actual &&
		test_cmp expect actual || return 1
		writes=$((writes + 1))
	done &&
	test $writes -gt 15
END

test_expect_success 'a mark that a killed expire left on what a ref holds is taken back' '
	line && older 40 &&
	take_away "$three" expired "" && older 40 "repo/versions/$three/expired.json" &&
	fdl gc repo >out &&
	has "1 2 3 4" &&
	fdl url repo
'

test_done
