#!/bin/sh

test_description='fdl-checkout: what it makes, what it replaces, and what it keeps'

. "${0%/*}/test-lib.sh"

# unchanged COMMAND...: the command is refused and neither the catalog nor what stands beside it changes.
unchanged() {
	whole >before &&
	refused "$@" &&
	whole >after &&
	test_cmp before after
}

whole() {
	dump lake.sqlite && find . -name "*.sqlite" -type f | sort && tree towns && tree lake.sqlite.fdl
}

test_expect_success 'setup' '
	setup_towns &&
	first=$(fdl-resolve-ref --repo towns HEAD~1) &&
	fdl-update-ref --repo towns refs/heads/old "$first" &&
	fdl-update-ref --repo towns refs/heads/feature/x "$first"
'

test_expect_success 'a catalog without changes is replaced' '
	fdl checkout towns lake.sqlite >attach &&
	test_path_is_missing lake.sqlite.old-1 &&
	work "SELECT count(*) > 0 FROM lake.towns" >actual &&
	echo true >expect &&
	test_cmp expect actual
'

test_expect_success 'another branch is checked out by its name' - <<\END
	fdl checkout towns old.sqlite old &&
	fdl status old.sqlite | head -n 1 >actual &&
	echo "on branch 'old' of '$TRASH_DIRECTORY/towns/'" >expect &&
	test_cmp expect actual &&
	fdl checkout towns deep/er/x.sqlite refs/heads/feature/x &&
	fdl status deep/er/x.sqlite | grep "on branch 'feature/x'"
END

test_expect_success 'and pushed to, without touching the others' - <<\END
	main=$(fdl-resolve-ref --repo towns main) &&
	duck "$(fdl attach-sql --repo towns --working old.sqlite) CREATE TABLE lake.x AS SELECT 1 AS i" &&
	fdl commit old.sqlite -m 'Add x' >id &&
	fdl push old.sqlite | grep ' -> old, ' &&
	test "$(fdl-resolve-ref --repo towns old)" = "$(cat id)" &&
	test "$(fdl-resolve-ref --repo towns main)" = "$main"
END

test_expect_success 'a branch that is not there is told with those that are' - <<\END
	test_expect_code 3 fdl checkout towns new.sqlite nowhere 2>err &&
	test_grep "'refs/heads/nowhere' does not exist in" err &&
	test_grep 'refs/heads/old$' err &&
	test_path_is_missing new.sqlite &&
	test_path_is_missing new.sqlite.fdl &&
	refused 128 'not a valid\|cannot\|begin\|ref' fdl checkout towns new.sqlite 'a..b' &&
	test_path_is_missing new.sqlite.fdl
END

test_expect_success 'what was not committed is not thrown away' - <<\END
	work "DELETE FROM lake.towns WHERE name = 'Turku'" &&
	unchanged 1 'holds changes that were not committed' fdl checkout towns lake.sqlite &&
	test_grep "^hint: 'fdl commit' them" refused.err
END

test_expect_success 'nor what was not pushed' - <<\END
	fdl commit lake.sqlite -m 'Without Turku' &&
	unchanged 1 'holds versions that were not pushed' fdl checkout towns lake.sqlite &&
	test_grep "^hint: 'fdl push' them" refused.err
END

test_expect_success '--force keeps it aside, under another name each time' - <<\END
	fdl checkout --force towns lake.sqlite &&
	work "DELETE FROM lake.towns WHERE name = 'Espoo'" &&
	fdl checkout -f towns lake.sqlite &&
	fdl status lake.sqlite.old-1 | grep 'Without Turku' &&
	fdl status lake.sqlite.old-2 | grep '    M	table	main.towns' &&
	fdl status lake.sqlite | grep 'nothing to commit'
END

test_expect_success 'and what was kept aside can be pushed' '
	fdl push lake.sqlite.old-1 &&
	fdl log --oneline -n 1 towns | grep "Without Turku"
'

test_expect_success 'a file that fdl did not make is not replaced' '
	echo mine >mine.sqlite &&
	unchanged 128 "mine.sqlite" fdl checkout towns mine.sqlite &&
	mkdir folder.sqlite &&
	unchanged 128 "folder.sqlite" fdl checkout towns folder.sqlite
'

test_expect_success 'nor one that a writer has open' - <<\END
	hold "SELECT count(*) FROM lake.towns" &&
	test_expect_code 75 fdl checkout towns lake.sqlite 2>err &&
	test_expect_code 75 fdl checkout --force towns lake.sqlite 2>>err &&
	release &&
	grep -c 'is held open by another process' err >actual &&
	echo 2 >expect &&
	test_cmp expect actual &&
	fdl checkout towns lake.sqlite
END

test_expect_success 'a checkout that did not get to its end is done again' - <<\END
	fdl-put-object --repo lake.sqlite.fdl incomplete </dev/null &&
	refused 128 'did not get to its end' fdl status lake.sqlite &&
	refused 128 'did not get to its end' fdl commit lake.sqlite -m m &&
	refused 128 'did not get to its end' fdl push lake.sqlite &&
	fdl checkout towns lake.sqlite &&
	fdl status lake.sqlite | grep 'nothing to commit'
END

test_expect_success 'half a working catalog' - <<\END
	rm -rf half.sqlite* &&
	fdl checkout towns half.sqlite &&
	duck "$(fdl attach-sql --repo towns --working half.sqlite) CREATE TABLE lake.half AS SELECT 1 AS i" &&
	fdl commit half.sqlite -m 'Half' &&
	mv half.sqlite keep &&
	refused 128 "half.sqlite' does not exist" fdl status half.sqlite &&
	refused 1 'holds versions that were not pushed' fdl checkout towns half.sqlite &&
	mv keep half.sqlite && fdl push half.sqlite && rm half.sqlite &&
	fdl checkout towns half.sqlite &&
	fdl status half.sqlite | grep 'nothing to commit' &&
	rm -rf half.sqlite.fdl &&
	refused 128 "was not checked out by fdl" fdl status half.sqlite &&
	refused 128 "was not checked out by fdl" fdl commit half.sqlite -m m &&
	refused 128 "was not checked out by fdl" fdl push half.sqlite
END

test_expect_success 'an expired version is told with its reason' - <<\END
	fdl-resolve-ref --repo towns old >id &&
	id=$(cat id) &&
	printf '{"fdl":"1.0","reason":"withdrawn","at":"2026-12-01T00:00:00Z","message":"wrong units"}\n' |
	fdl-put-object --repo towns "versions/$id/expired.json" &&
	refused 4 'wrong units' fdl checkout towns gone.sqlite old &&
	test_path_is_missing gone.sqlite &&
	test_path_is_missing gone.sqlite.fdl &&
	refused 4 'wrong units' fdl url towns old
END

test_done
