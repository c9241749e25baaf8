#!/bin/sh

test_description='the main job on a folder: make a repository, check out, write, commit, push, read back'

. "${0%/*}/test-lib.sh"

test_expect_success 'init makes a repository and says so' - <<\END
	fdl init towns >out &&
	echo "made an empty repository in '$TRASH_DIRECTORY/towns/', with the branch 'main'" >expect &&
	test_cmp expect out &&
	(cd towns && find . -type f) | sort >files &&
	printf '%s\n' ./HEAD ./fdl.json >expect &&
	test_cmp expect files &&
	printf 'ref: refs/heads/main\n' >expect &&
	test_cmp expect towns/HEAD
END

test_expect_success 'init with another branch' '
	fdl init --branch trunk other &&
	test "$(cat other/HEAD)" = "ref: refs/heads/trunk"
'

test_expect_success 'init leaves a repository that is there alone' '
	tree towns >before &&
	refused 1 "is a repository already" fdl init towns &&
	tree towns >after &&
	test_cmp before after
'

test_expect_success 'nothing was published yet' '
	refused 3 "" fdl log towns &&
	refused 3 "" fdl url towns &&
	refused 3 "" fdl show towns
'

test_expect_success 'checkout prints the ATTACH statement, ready to paste' - <<\END
	fdl checkout towns lake.sqlite >attach &&
	cat >expect <<-EOF &&
	ATTACH 'ducklake:$TRASH_DIRECTORY/lake.sqlite' AS lake (
	    DATA_PATH '$TRASH_DIRECTORY/towns/data/',
	    OVERRIDE_DATA_PATH true,
	    META_TYPE 'sqlite',
	    DATA_INLINING_ROW_LIMIT 0,
	    META_JOURNAL_MODE 'WAL',
	    BUSY_TIMEOUT 5000
	);
	EOF
	test_cmp expect attach
END

test_expect_success 'nothing to commit, nothing to push' '
	fdl status lake.sqlite >actual &&
	printf "%s\n" "on branch '\''main'\'' of '\''$TRASH_DIRECTORY/towns/'\''" "no version yet" "nothing to commit" >expect &&
	test_cmp expect actual &&
	refused 1 "nothing to push" fdl push lake.sqlite
'

test_expect_success 'DuckDB writes, and status tells what' - <<\END
	duck "$(cat attach) CREATE TABLE lake.towns AS FROM read_csv('$TEST_DIRECTORY/fixtures/towns.csv')" &&
	rows=$(($(wc -l <"$TEST_DIRECTORY/fixtures/towns.csv") - 1)) &&
	fdl status lake.sqlite >actual &&
	cat >expect <<-EOF &&
	on branch 'main' of '$TRASH_DIRECTORY/towns/'
	no version yet
	not committed:
	    A	table	main.towns	-	$rows
	EOF
	test_cmp expect actual
END

test_expect_success 'commit prints the id; the repository has nothing of it yet' '
	fdl commit lake.sqlite -m "Add towns" >first &&
	grep -E "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" first &&
	test_path_is_missing towns/versions &&
	test_path_is_missing towns/refs
'

test_expect_success 'status tells what is not pushed' - <<\END
	fdl status lake.sqlite >actual &&
	cat >expect <<-EOF &&
	on branch 'main' of '$TRASH_DIRECTORY/towns/'
	committed and not pushed:
	    $(cat first) Add towns
	nothing to commit
	EOF
	test_cmp expect actual
END

test_expect_success 'push publishes it and says what it sent' '
	fdl push lake.sqlite >out &&
	test_grep "$(cat first) -> main, 1 new files" out &&
	test "$(fdl-resolve-ref --repo towns HEAD)" = "$(cat first)" &&
	(cd "towns/versions/$(cat first)" && ls) >files &&
	printf "%s\n" dataset.json ducklake.duckdb files.json version.json >expect &&
	test_cmp expect files &&
	fdl status lake.sqlite | tail -n 1 >actual &&
	echo "nothing to commit" >expect &&
	test_cmp expect actual
'

test_expect_success 'a second push has nothing to do' '
	tree towns >before &&
	fdl push lake.sqlite >out &&
	echo "everything is pushed" >expect &&
	test_cmp expect out &&
	tree towns >after &&
	test_cmp before after
'

test_expect_success 'a second version' - <<\END
	duck "$(cat attach) DELETE FROM lake.towns WHERE population < 100000;
		UPDATE lake.towns SET population = 1 WHERE name = 'Turku'" &&
	fdl commit lake.sqlite -m 'Leave out small towns' >second &&
	fdl push lake.sqlite
END

test_expect_success 'log lists both, newest first' '
	fdl log --oneline towns | sed "s/^[0-9a-f-]* //" >actual &&
	printf "%s\n" "(HEAD -> main) Leave out small towns" "Add towns" >expect &&
	test_cmp expect actual &&
	fdl log --format %H towns >actual &&
	cat second first >expect &&
	test_cmp expect actual
'

test_expect_success 'both versions are read back through the ducklake extension' - <<\END
	duck "$(fdl url --sql towns) SELECT count(*), min(population) FROM lake.towns; FROM lake.towns WHERE name = 'Turku'" >actual &&
	duck "CREATE TABLE t AS FROM read_csv('$TEST_DIRECTORY/fixtures/towns.csv');
		DELETE FROM t WHERE population < 100000; UPDATE t SET population = 1 WHERE name = 'Turku';
		SELECT count(*), min(population) FROM t; FROM t WHERE name = 'Turku'" >expect &&
	test_cmp expect actual &&
	duck "$(fdl url --sql towns HEAD~1) FROM lake.towns ORDER BY ALL" >actual &&
	duck "FROM read_csv('$TEST_DIRECTORY/fixtures/towns.csv') ORDER BY ALL" >expect &&
	test_cmp expect actual
END

test_expect_success 'a reader cannot write' '
	test_must_fail_duck() {
		! duck "$(fdl url --sql towns) $1" 2>err && test_grep "read-only" err
	} &&
	test_must_fail_duck "DELETE FROM lake.towns" &&
	test_must_fail_duck "CREATE TABLE lake.x (i INTEGER)"
'

test_expect_success 'a folder that was moved is read and written where it is now' - <<\END
	cp -R towns moved &&
	mv towns hidden &&
	test_when_finished "mv hidden towns" &&
	duck "$(fdl url --sql moved) SELECT count(population) > 0 FROM lake.towns" >actual &&
	echo true >expect &&
	test_cmp expect actual &&
	fdl checkout moved again.sqlite >attach &&
	duck "$(cat attach) CREATE TABLE lake.more AS SELECT 1 AS i" &&
	fdl commit again.sqlite -m 'Add more' &&
	fdl push again.sqlite &&
	duck "$(fdl url --sql moved) FROM lake.more" >actual &&
	echo 1 >expect &&
	test_cmp expect actual
END

test_expect_success 'another catalog starts from what was published' '
	fdl checkout --as l towns second.sqlite >attach &&
	test_grep " AS l (" attach &&
	duck "$(cat attach) SELECT count(*) FROM l.towns" >actual &&
	duck "$(fdl url --sql towns) SELECT count(*) FROM lake.towns" >expect &&
	test_cmp expect actual
'

test_expect_success 'every file of the repository is whole and no temporary one is left' '
	find towns -name "*tmp*" -o -name "*.new" >left &&
	test_line_count 0 left &&
	fdl-ls-version --repo towns HEAD | fdl-check-objects --repo towns
'

test_done
