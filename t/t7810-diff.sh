#!/bin/sh

test_description='fdl diff: two versions, and a version and a working catalog'

. "${0%/*}/test-lib.sh"

# prints TEXT COMMAND...: it prints this and nothing else.
prints() {
	printf '%b' "$1" >expect &&
	shift &&
	"$@" >actual &&
	test_cmp expect actual
}

# rows NAME: how many towns that version has.
rows() {
	duck "$(fdl url --sql towns "$1") SELECT count(*) FROM lake.towns"
}

test_expect_success 'setup' '
	setup_towns &&
	publish "CREATE SCHEMA lake.s; CREATE VIEW lake.v AS SELECT 1 AS i; CREATE TABLE lake.s.\"a b\" AS SELECT 1 AS i" "Add more" &&
	before=$(rows HEAD~2) after=$(rows HEAD)
'

test_expect_success 'two versions' - <<\END
	prints "M\ttable\tmain.towns\t$before\t$after\n" fdl diff towns HEAD~2 HEAD~1 &&
	prints "M\ttable\tmain.towns\t$after\t$before\n" fdl diff towns HEAD~1 HEAD~2 &&
	prints '' fdl diff towns HEAD~1 HEAD~1
END

test_expect_success 'a version and HEAD' - <<\END
	prints 'A\tschema\ts\t-\t-\nA\ttable\ts."a b"\t-\t1\nA\tview\tmain.v\t-\t-\n' fdl diff towns HEAD~1 &&
	prints 's\ns."a b"\nmain.v\n' fdl diff --name-only towns HEAD~1 &&
	prints 's\ns."a b"\nmain.v\n' fdl diff lake.sqlite main~1 --name-only &&
	fdl diff -z towns HEAD~1 | tr '\0' '\n' >actual &&
	fdl diff towns HEAD~1 >expect &&
	test_cmp expect actual
END

test_expect_success 'the working catalog and what was committed last' - <<\END
	prints '' fdl diff lake.sqlite &&
	fdl diff --quiet lake.sqlite &&
	work "INSERT INTO lake.towns VALUES ('A', 'X', 1)" &&
	prints "M\ttable\tmain.towns\t$after\t$((after + 1))\n" fdl diff lake.sqlite &&
	fdl commit lake.sqlite -m 'Add A' &&
	prints '' fdl diff lake.sqlite &&
	fdl checkout -f towns lake.sqlite &&
	fdl init new && fdl checkout new new.sqlite &&
	prints '' fdl diff new.sqlite &&
	duck "$(fdl attach-sql --repo new --working new.sqlite) CREATE TABLE lake.t AS SELECT 1 AS i" &&
	prints 'A\ttable\tmain.t\t-\t1\n' fdl diff new.sqlite
END

test_expect_success '--stat tells which files came and went' - <<\END
	for name in HEAD~2 HEAD~1
	do
		fdl-ls-version --repo towns $name >files.$name || return 1
	done &&
	comm -13 files.HEAD~2 files.HEAD~1 >more &&
	test_line_count 1 more &&
	size=$(cut -f 2 more) &&
	change="M\ttable\tmain.towns" &&
	prints "$change\t$before\t$after\n1 files with $size bytes more, 0 files with 0 bytes less\n" \
		fdl diff --stat towns HEAD~2 HEAD~1 &&
	prints "$change\t$after\t$before\n0 files with 0 bytes more, 1 files with $size bytes less\n" \
		fdl diff --stat towns HEAD~1 HEAD~2 &&
	prints '0 files with 0 bytes more, 0 files with 0 bytes less\n' fdl diff --stat lake.sqlite
END

test_expect_success 'the exit status tells only where it is asked to' - <<\END
	fdl diff towns HEAD~1 &&
	fdl diff --exit-code towns HEAD HEAD &&
	test_expect_code 1 fdl diff --exit-code towns HEAD~1 >actual &&
	fdl diff towns HEAD~1 >expect &&
	test_cmp expect actual &&
	test_expect_code 1 fdl diff -q towns HEAD~1 >actual &&
	test ! -s actual
END

test_expect_success 'what is not there, and options that do not go together' - <<\END
	refused 3 'neither a ref nor a version' fdl diff towns none &&
	refused 3 'neither a ref nor a version' fdl diff towns HEAD none &&
	refused 128 'was not checked out by fdl\|does not exist' fdl diff towns &&
	test_expect_code 129 fdl diff -z --stat towns HEAD 2>err &&
	test_grep '-z and --stat do not go together' err
END

test_done
