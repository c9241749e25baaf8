#!/bin/sh

test_description='fdl-push: two writers, pushes that were cut off, and refusals'

. "${0%/*}/test-lib.sh"

# in_lake FILE SQL: runs SQL in that working catalog.
in_lake() {
	duck "$(fdl attach-sql --repo towns --working "$1") $2"
}

tip() {
	fdl-resolve-ref --repo towns HEAD
}

test_expect_success 'setup: two writers of one branch' - <<\END
	setup_towns &&
	mv lake.sqlite a.sqlite && mv lake.sqlite.fdl a.sqlite.fdl &&
	fdl checkout towns b.sqlite &&
	in_lake a.sqlite "INSERT INTO lake.towns VALUES ('A', 'AA', 1)" &&
	in_lake b.sqlite "INSERT INTO lake.towns VALUES ('B', 'BB', 2)" &&
	fdl commit a.sqlite -m 'Add A' >a &&
	fdl commit b.sqlite -m 'Add B' >b &&
	fdl push a.sqlite
END

test_expect_success 'the second push exits 2, says which version won and what to do' - <<\END
	tree towns >before &&
	refused 2 "another writer pushed to 'main' first: $(cat a) by A U Thor, .*: Add A" fdl push b.sqlite &&
	test_grep "^hint: 'fdl checkout --force'" refused.err &&
	tree towns >after &&
	test_cmp before after
END

test_expect_success 'status says so too' '
	fdl status b.sqlite >actual &&
	test_grep "the branch holds $(cat a) now: another writer pushed" actual &&
	test_grep "$(cat b) Add B" actual
'

test_expect_success 'checkout does not throw the loser away' - <<\END
	{ dump b.sqlite && tree b.sqlite.fdl && tree towns; } >before &&
	refused 1 'holds versions that were not pushed' fdl checkout towns b.sqlite &&
	{ dump b.sqlite && tree b.sqlite.fdl && tree towns; } >after &&
	test_cmp before after
END

test_expect_success 'after a new checkout the work is done again and pushed, and nothing is lost' - <<\END
	fdl checkout --force towns b.sqlite >attach 2>err &&
	test_grep "^warning: what was there is kept as '.*b.sqlite.old-1'" err &&
	in_lake b.sqlite "$(fdl attach-sql --repo towns --as old --working b.sqlite.old-1)
		INSERT INTO lake.towns FROM old.towns WHERE name = 'B'" &&
	fdl commit b.sqlite -m 'Add B to A' &&
	fdl push b.sqlite &&
	duck "$(fdl url --sql towns) SELECT name FROM lake.towns WHERE population < 10 ORDER BY name" >actual &&
	printf '%s\n' A B >expect &&
	test_cmp expect actual
END

test_expect_success 'the version kept aside is there with its commit' '
	fdl status b.sqlite.old-1 >actual &&
	test_grep "$(cat b) Add B" actual &&
	fdl log b.sqlite.old-1.fdl | grep "Add B"
'

test_expect_success 'a writer who loses while its push runs is told the same' - <<\END
	fdl checkout --force towns a.sqlite &&
	in_lake a.sqlite "INSERT INTO lake.towns VALUES ('A2', 'AA', 1)" &&
	fdl commit a.sqlite -m 'Add A2' &&
	in_lake b.sqlite "INSERT INTO lake.towns VALUES ('B2', 'BB', 2)" &&
	fdl commit b.sqlite -m 'Add B2' >b &&
	mkdir bin &&
	cat >bin/fdl-check-objects <<-EOF &&
	#!/bin/sh
	# The moment before the ref moves: another writer gets in between.
	test -e raced || { touch raced && FDL_EXEC_PATH= "$FDL_TEST_PREFIX/bin/fdl" push b.sqlite >&2; } || exit 1
	exec "$FDL_TEST_PREFIX/bin/fdl-check-objects" "\$@"
	EOF
	chmod +x bin/fdl-check-objects &&
	for command in "$FDL_TEST_PREFIX"/bin/*
	do
		test -e "bin/${command##*/}" || ln -s "$command" bin/ || return 1
	done &&
	test_expect_code 2 env FDL_EXEC_PATH="$TRASH_DIRECTORY/bin" bin/fdl-push a.sqlite 2>err &&
	test_path_is_file raced &&
	test_grep "another writer pushed to 'main' first: $(cat b)" err &&
	test "$(tip)" = "$(cat b)"
END

test_expect_success 'a push that was cut off after its ref had moved is gone on with' - <<\END
	fdl checkout --force towns a.sqlite &&
	for n in 1 2 3
	do
		in_lake a.sqlite "INSERT INTO lake.towns VALUES ('C$n', 'CC', $n)" &&
		fdl commit a.sqlite -m "Add C$n" || return 1
	done &&
	fdl-rev-list --repo a.sqlite.fdl --reverse HEAD ^refs/remotes/origin/main >ids &&
	second=$(sed -n 2p ids) &&
	cp -R a.sqlite.fdl as-it-was &&
	fdl push a.sqlite &&
	printf '%s\n' "$second" >towns/refs/heads/main &&
	rm -rf a.sqlite.fdl && mv as-it-was a.sqlite.fdl &&
	fdl push a.sqlite >out &&
	test_line_count 1 out &&
	test_grep "$second..$(sed -n 3p ids) -> main" out &&
	test "$(tip)" = "$(sed -n 3p ids)"
END

test_expect_success 'a branch that was deleted meanwhile is not made again' - <<\END
	in_lake a.sqlite "INSERT INTO lake.towns VALUES ('D', 'DD', 1)" &&
	fdl commit a.sqlite -m 'Add D' &&
	cp -R towns saved &&
	fdl-update-ref --repo towns -d refs/heads/main &&
	refused 2 "'main' was deleted in" fdl push a.sqlite &&
	rm -rf towns && mv saved towns &&
	fdl push a.sqlite
END

test_expect_success 'refs.json is brought in line, also by a push that has nothing to send' - <<\END
	cp towns/refs.json expect &&
	printf '{"fdl":"1.0","head":"refs/heads/main","refs":{}}\n' >towns/refs.json &&
	fdl push a.sqlite >out &&
	test_grep "everything is pushed" out &&
	test_cmp expect towns/refs.json
END

test_expect_success 'a repository that is gone' - <<\END
	mv towns hidden &&
	test_when_finished "mv hidden towns" &&
	refused 128 "towns" fdl push a.sqlite &&
	refused 128 "towns" fdl status a.sqlite &&
	refused 128 "towns" fdl commit a.sqlite -m m
END

test_expect_success 'another repository in its place' - <<\END
	in_lake a.sqlite "INSERT INTO lake.towns VALUES ('E', 'EE', 1)" &&
	fdl commit a.sqlite -m 'Add E' &&
	mv towns hidden &&
	test_when_finished "rm -rf towns && mv hidden towns" &&
	fdl init towns &&
	tree towns >before &&
	test_must_fail fdl push a.sqlite 2>err &&
	one_line err &&
	tree towns >after &&
	test_cmp before after
END

test_done
