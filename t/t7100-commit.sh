#!/bin/sh

test_description='fdl-commit: what is committed, by whom, and what is refused'

. "${0%/*}/test-lib.sh"

# nothing_to_commit SQL: after it, commit finds the same rows.
nothing_to_commit() {
	work "$1" &&
	tree lake.sqlite.fdl >before &&
	refused 1 "nothing to commit" fdl commit lake.sqlite -m x &&
	tree lake.sqlite.fdl >after &&
	test_cmp before after
}

last() {
	fdl-cat-version --repo lake.sqlite.fdl --format "$1" HEAD
}

test_expect_success 'setup' '
	setup_towns
'

test_expect_success 'the same rows make no version' - <<\END
	nothing_to_commit "" &&
	nothing_to_commit "DELETE FROM lake.towns WHERE name = 'nowhere'" &&
	nothing_to_commit "CREATE TEMP TABLE t AS FROM lake.towns; DELETE FROM lake.towns; INSERT INTO lake.towns FROM t" &&
	nothing_to_commit "CREATE OR REPLACE TABLE lake.towns AS FROM lake.towns" &&
	nothing_to_commit "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01);
		CALL ducklake_merge_adjacent_files('lake')"
END

test_expect_success 'a compaction is committed with --allow-empty' '
	fdl commit lake.sqlite --allow-empty -m Compact &&
	test "$(last %s)" = Compact &&
	fdl push lake.sqlite
'

test_expect_success 'a changed cell makes one' - <<\END
	work "UPDATE lake.towns SET population = population + 1 WHERE name = 'Turku'" &&
	fdl commit lake.sqlite -m 'Correct Turku' &&
	work "ALTER TABLE lake.towns ADD COLUMN notes VARCHAR[]; UPDATE lake.towns SET notes = []" &&
	fdl commit lake.sqlite -m 'Add notes' &&
	work "UPDATE lake.towns SET notes = NULL WHERE name = 'Turku'" &&
	fdl commit lake.sqlite -m 'No notes for Turku' &&
	work "COMMENT ON TABLE lake.towns IS 'of the Baltic'" &&
	fdl commit lake.sqlite -m 'Say where they are'
END

test_expect_success 'the author comes from --author, FDL_AUTHOR, or Git' - <<\END
	next() {
		work "UPDATE lake.towns SET population = population + 1 WHERE name = 'Turku'" && fdl commit lake.sqlite -m m "$@"
	} &&
	next --author 'Option <o@example.com>' &&
	test "$(last '%an|%ae')" = 'Option|o@example.com' &&
	FDL_AUTHOR='Variable <v@example.com>' next &&
	test "$(last '%an|%ae')" = 'Variable|v@example.com' &&
	git config --global user.name "Git's" &&
	git config --global user.email g@example.com &&
	FDL_AUTHOR='' next &&
	test "$(last '%an|%ae')" = "Git's|g@example.com" &&
	rm .gitconfig &&
	work "UPDATE lake.towns SET population = population + 1 WHERE name = 'Turku'" &&
	FDL_AUTHOR='' refused 128 'who are you' fdl commit lake.sqlite -m m &&
	refused 128 "author" fdl commit lake.sqlite -m m --author nobody &&
	fdl commit lake.sqlite -m m
END

test_expect_success 'the message comes from -m or a file, in all its lines' - <<\END
	printf 'Subject\n\nBody with "quotes", tab\tand naïve 北.\n' >message &&
	fdl commit lake.sqlite --allow-empty -F message &&
	fdl-cat-version -z --repo lake.sqlite.fdl --format %B HEAD | tr '\0' '\n' >actual &&
	test_cmp message actual &&
	fdl commit lake.sqlite --allow-empty -m '-m is "no option" here
$(touch bad) `touch bad`' &&
	test_path_is_missing bad &&
	test "$(last %s)" = '-m is "no option" here'
END

test_expect_success 'the date is the one that is given' '
	fdl commit lake.sqlite --allow-empty -m m --date 2026-02-03T04:05:06+02:00 &&
	test "$(last %aI)" = 2026-02-03T02:05:06Z &&
	refused 128 "date" fdl commit lake.sqlite --allow-empty -m m --date yesterday
'

test_expect_success 'options that are missing, doubled or unknown' '
	tree lake.sqlite.fdl >before &&
	test_expect_code 129 fdl commit lake.sqlite &&
	test_expect_code 129 fdl commit -m m &&
	test_expect_code 129 fdl commit lake.sqlite -m &&
	test_expect_code 129 fdl commit lake.sqlite -m m -F message &&
	test_expect_code 129 fdl commit lake.sqlite other -m m &&
	test_expect_code 129 fdl commit lake.sqlite -m m --no-such &&
	refused 3 "nowhere" fdl commit lake.sqlite --allow-empty -F nowhere &&
	tree lake.sqlite.fdl >after &&
	test_cmp before after
'

test_expect_success 'several commits are pushed one after another, oldest first' '
	fdl-rev-list --repo lake.sqlite.fdl --reverse HEAD ^refs/remotes/origin/main >ids &&
	test "$(wc -l <ids)" -gt 5 &&
	fdl push lake.sqlite >out &&
	sed "s/.*\.\.\([^ ]*\) -> .*/\1/" out >sent &&
	test_cmp ids sent &&
	fdl-rev-list --repo towns --reverse HEAD | tail -n "$(wc -l <ids)" >there &&
	test_cmp ids there
'

test_expect_success 'after a push only the newest version is kept beside the catalog' '
	ls lake.sqlite.fdl/versions >kept &&
	fdl-resolve-ref --repo towns HEAD >expect &&
	test_cmp expect kept &&
	fdl-for-each-ref --repo lake.sqlite.fdl | cut -f 1 | sort -u >refs &&
	test_cmp expect refs
'

test_expect_success 'a commit does not see, nor wait for, a transaction that DuckDB has open' - <<\END
	hold "INSERT INTO lake.towns (name) VALUES ('Open')" &&
	work "SELECT 1" &&
	fdl status lake.sqlite >status &&
	test_grep 'nothing to commit' status &&
	refused 1 'nothing to commit' fdl commit lake.sqlite -m 'While it is open' &&
	release &&
	fdl commit lake.sqlite -m 'The rest' &&
	fdl push lake.sqlite &&
	duck "$(fdl url --sql towns) SELECT name FROM lake.towns WHERE name = 'Open'" >actual &&
	echo Open >expect &&
	test_cmp expect actual
END

test_done
