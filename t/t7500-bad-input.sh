#!/bin/sh

test_description='bad input gets one clear line, and nothing is changed'

. "${0%/*}/test-lib.sh"

# unchanged STATUS PATTERN COMMAND...: it is refused so, and neither the repository nor the working catalog changes.
unchanged() {
	for folder in towns lake.sqlite.fdl
	do
		tree "$folder"
	done >before &&
	dump lake.sqlite >lake.before 2>&1
	refused "$@" &&
	for folder in towns lake.sqlite.fdl
	do
		tree "$folder"
	done >after &&
	test_cmp before after &&
	dump lake.sqlite >lake.after 2>&1
	test_cmp lake.before lake.after
}

# damaged FILE: the test writes over this file of the repository, which comes back when it has ended.
damaged() {
	saved=saved-$(basename "$1") &&
	cp "$1" "$saved" &&
	test_when_finished "cp '$saved' '$1'"
}

test_expect_success 'setup' '
	setup_towns &&
	work "INSERT INTO lake.towns VALUES ('\''New'\'', '\''NN'\'', 5)" &&
	id=$(fdl-resolve-ref --repo towns HEAD) &&
	version=towns/versions/$id
'

test_expect_success 'not a repository' '
	mkdir empty &&
	for command in "checkout empty x.sqlite" "log empty" "show empty" "url empty"
	do
		unchanged 128 "is no repository\|is not a repository" fdl $command || return 1
	done &&
	unchanged 128 "nowhere" fdl log nowhere &&
	unchanged 128 "README" fdl log "$TEST_DIRECTORY/README.md" &&
	unchanged 128 "gopher" fdl log gopher://example.com/x &&
	unchanged 128 "" fdl log ""
'

test_expect_success 'a repository of another major version' - <<\END
	damaged towns/fdl.json &&
	sed 's/"1.0"/"2.0"/' $saved >towns/fdl.json &&
	for command in "checkout towns x.sqlite" "log towns" "status lake.sqlite" "push lake.sqlite" "commit lake.sqlite -m m"
	do
		unchanged 128 'fdl.json.*2.0' fdl $command || return 1
	done
END

test_expect_success 'a version of another major version' - <<\END
	damaged $version/version.json &&
	sed 's/"1.0",$/"2.0",/; 0,/2.0/!b' $saved >$version/version.json &&
	unchanged 128 "$id.*2.0\|2.0" fdl show towns &&
	unchanged 128 "$id.*2.0\|2.0" fdl checkout towns x.sqlite
END

test_expect_success 'JSON that is damaged or cut off' - <<\END
	for file in towns/fdl.json $version/version.json
	do
		damaged $file &&
		for size in 0 1 40
		do
			head -c $size $saved >$file &&
			unchanged 128 "${file##*/}" fdl url towns || return 1
		done &&
		printf '\377\376' >$file && unchanged 128 "${file##*/}" fdl url towns &&
		printf '[]' >$file && unchanged 128 "${file##*/}" fdl url towns &&
		printf '{"fdl":"1.0","fdl":"1.0"}' >$file && unchanged 128 "${file##*/}" fdl url towns &&
		cat $saved >$file || return 1
	done &&
	damaged $version/files.json &&
	head -c 100 $saved >$version/files.json &&
	unchanged 5 "files.json" fdl-ls-version --repo towns HEAD
END

test_expect_success 'a catalog with another sha256 or size' - <<\END
	damaged $version/ducklake.duckdb &&
	printf x | dd of=$version/ducklake.duckdb bs=1 seek=50000 conv=notrunc &&
	unchanged 5 'sha256' fdl checkout towns x.sqlite &&
	test_path_is_missing x.sqlite &&
	printf x >>$version/ducklake.duckdb &&
	unchanged 5 'ducklake.duckdb' fdl checkout towns x.sqlite
END

test_expect_success 'a catalog that is missing' - <<\END
	mv $version/ducklake.duckdb moved &&
	test_when_finished "mv moved $version/ducklake.duckdb" &&
	unchanged 3 'ducklake.duckdb' fdl checkout towns x.sqlite
END

test_expect_success 'a ref that is damaged, or leads nowhere' - <<\END
	damaged towns/refs/heads/main &&
	for text in '' x "$id" "$id
x"
	do
		printf '%s' "$text" >towns/refs/heads/main &&
		unchanged 128 "refs/heads/main" fdl url towns || return 1
	done &&
	echo 00000000-0000-7000-8000-000000000000 >towns/refs/heads/main &&
	unchanged 3 '00000000-0000-7000-8000-000000000000' fdl url towns &&
	unchanged 3 '00000000-0000-7000-8000-000000000000' fdl push lake.sqlite
END

test_expect_success 'an expired version is refused with its reason' - <<\END
	test_when_finished "rm -f $version/expired.json" &&
	printf '{"fdl":"1.0","reason":"expired","at":"2026-12-01T00:00:00Z","message":"too old"}\n' >$version/expired.json &&
	unchanged 4 'is past retention since .*: too old' fdl checkout towns x.sqlite &&
	unchanged 4 'is past retention since .*: too old' fdl url towns &&
	cp -R lake.sqlite.fdl work.saved &&
	fdl commit lake.sqlite -m 'On an expired version' &&
	test_when_finished "rm -rf lake.sqlite.fdl && mv work.saved lake.sqlite.fdl" &&
	unchanged 4 'is past retention since .*: too old' fdl push lake.sqlite
END

test_expect_success 'setup again' '
	rm -rf lake.sqlite* &&
	fdl checkout towns lake.sqlite &&
	work "INSERT INTO lake.towns VALUES ('\''New'\'', '\''NN'\'', 5)"
'

test_expect_success 'a working catalog that is none, or of another lake' - <<\END
	damaged lake.sqlite &&
	rm lake.sqlite && sqlite lake.sqlite 'CREATE TABLE t (i)' &&
	unchanged 128 'lake.sqlite. is no catalog' fdl commit lake.sqlite -m m &&
	unchanged 128 'lake.sqlite. is no catalog' fdl status lake.sqlite &&
	echo text >lake.sqlite &&
	unchanged 128 'lake.sqlite. is no catalog' fdl commit lake.sqlite -m m &&
	rm lake.sqlite && fdl-thaw-catalog --empty --data-path towns/data lake.sqlite &&
	unchanged 128 'is another lake' fdl commit lake.sqlite -m m
END

test_expect_success 'a data file outside the data folder' - <<\END
	cp lake.sqlite aside &&
	duck "COPY (SELECT 'n' AS name, 'c' AS country, 1::BIGINT AS population) TO 'mine.parquet' (FORMAT parquet)" &&
	work "CALL ducklake_add_data_files('lake', 'towns', '$TRASH_DIRECTORY/mine.parquet')" &&
	unchanged 128 'outside its data folder' fdl commit lake.sqlite -m m &&
	cat aside >lake.sqlite
END

test_expect_success 'names that no ref or key may have' - <<\END
	for name in a..b a.lock .a a/ /a 'a b' 'a~1' 'a^' 'a:b' 'a?' 'a*' 'a[' 'a\b' '@{' -a "$(printf 'a\001b')"
	do
		unchanged 128 '' fdl-update-ref --repo towns -- "refs/heads/$name" "$id" || return 1
	done &&
	unchanged 128 '' fdl checkout towns x.sqlite 'a..b' &&
	unchanged 128 '' fdl-cat-object --repo towns ../lake.sqlite &&
	unchanged 128 '' fdl-put-object --repo towns data/../../x &&
	unchanged 128 '' fdl-put-object --repo towns /etc/x
END

test_expect_success 'a symlink that leads out of the repository' - <<\END
	mkdir outside && echo secret >outside/file &&
	ln -s ../outside towns/data/out &&
	test_when_finished 'rm towns/data/out' &&
	unchanged 6 '' fdl-cat-object --repo towns data/out/file &&
	echo x | unchanged 6 '' fdl-put-object --repo towns data/out/new &&
	test_path_is_missing outside/new
END

test_expect_success 'a catalog whose writer holds it' - <<\END
	hold "INSERT INTO lake.towns VALUES ('Held', 'HH', 1)" &&
	fdl status lake.sqlite >actual &&
	! grep Held actual &&
	refused 75 'is held open by another process' fdl checkout --force towns lake.sqlite &&
	release
END

test_done
