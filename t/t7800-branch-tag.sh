#!/bin/sh

test_description='fdl branch, fdl tag, fdl checkout -b and fdl revert'

. "${0%/*}/test-lib.sh"

# info: the refs in refs.json.
info() {
	python3 -c "import json; print(*json.load(open('towns/refs.json'))['refs'], sep='\n')"
}

# unchanged COMMAND...: it is refused, and the repository stays as it is.
unchanged() {
	tree towns >before &&
	refused "$@" &&
	tree towns >after &&
	test_cmp before after
}

test_expect_success 'setup' '
	setup_towns &&
	first=$(fdl-resolve-ref --repo towns HEAD~1) &&
	second=$(fdl-resolve-ref --repo towns HEAD)
'

test_expect_success 'a branch is made from HEAD, or from any name of a version' - <<\END
	fdl branch towns topic &&
	fdl branch towns old HEAD~1 &&
	fdl branch towns by/id "$(echo "$first" | cut -c 1-23)" &&
	fdl branch towns by/branch old~0 &&
	test "$(fdl-resolve-ref --repo towns topic)" = "$second" &&
	for name in old by/id by/branch
	do
		test "$(fdl-resolve-ref --repo towns "$name")" = "$first" || return 1
	done &&
	info >actual &&
	printf 'refs/heads/%s\n' by/branch by/id main old topic >expect &&
	test_cmp expect actual
END

test_expect_success 'branches are listed, HEAD marked, with -v the newest version of each' - <<\END
	fdl branch towns >actual &&
	printf '%s\n' '  by/branch' '  by/id' '* main' '  old' '  topic' >expect &&
	test_cmp expect actual &&
	fdl branch lake.sqlite >actual &&
	test_cmp expect actual &&
	fdl branch towns -v >actual &&
	cat >expect <<-EOF &&
	  by/branch $first Add towns
	  by/id $first Add towns
	* main $second Leave out small towns
	  old $first Add towns
	  topic $second Leave out small towns
	EOF
	test_cmp expect actual &&
	fdl init empty &&
	fdl branch empty >actual && test ! -s actual &&
	fdl branch -v empty >actual && test ! -s actual
END

test_expect_success 'a branch that exists is not moved, and made again it is as it was' '
	unchanged 2 "^error: .old. exists already, and holds $first" fdl branch towns old &&
	fdl branch towns old "$first" &&
	unchanged 3 "neither a ref nor a version" fdl branch towns new none &&
	unchanged 128 "bad ref name" fdl branch towns a..b &&
	unchanged 128 "cannot make .refs/heads/old/x" fdl branch towns old/x &&
	unchanged 3 "holds no version yet" fdl branch empty x
'

test_expect_success 'a tag is made, listed and never moved' - <<\END
	fdl tag towns v1 HEAD~1 &&
	fdl tag towns v2 &&
	fdl tag towns >actual &&
	printf '%s\n' v1 v2 >expect &&
	test_cmp expect actual &&
	fdl url towns v1 >actual &&
	fdl url towns HEAD~1 >expect &&
	test_cmp expect actual &&
	unchanged 2 'a tag never moves' fdl tag towns v1 &&
	fdl tag towns v1 HEAD~1 &&
	unchanged 128 'bad ref name' fdl tag towns a..b &&
	info | grep -c tags >actual &&
	echo 2 >expect &&
	test_cmp expect actual
END

test_expect_success 'tags and branches are deleted, and refs.json tells so' - <<\END
	fdl tag -d towns v2 >actual &&
	echo "deleted tag 'v2', which held $second" >expect &&
	test_cmp expect actual &&
	fdl branch -d towns by/id by/branch >actual &&
	printf "deleted branch '%s', which held $first\n" by/id by/branch >expect &&
	test_cmp expect actual &&
	info >actual &&
	printf 'refs/%s\n' heads/main heads/old heads/topic tags/v1 >expect &&
	test_cmp expect actual
END

test_expect_success 'one that is not there is named, and those after it are deleted' '
	fdl branch towns one && fdl branch towns two &&
	test_expect_code 3 fdl branch -d towns one none two 2>err &&
	test_grep "refs/heads/none" err &&
	refused 3 "" fdl-resolve-ref --repo towns two &&
	test_expect_code 3 fdl tag -d towns none 2>err &&
	test_grep "refs/tags/none" err
'

test_expect_success 'refs.json is put right by a delete that comes too late' '
	fdl tag towns late &&
	fdl-update-ref --repo towns -d refs/tags/late &&
	info | grep late &&
	test_expect_code 3 fdl tag -d towns late &&
	! info | grep late
'

test_expect_success 'what HEAD names is not deleted, nor what alone leads to a version' - <<\END
	unchanged 1 "HEAD names 'main'" fdl branch -D towns main &&
	fdl checkout towns topic.sqlite topic &&
	duck "$(fdl attach-sql --repo towns --working topic.sqlite) CREATE TABLE lake.x AS SELECT 1 AS i" &&
	fdl commit topic.sqlite -m 'Add x' >third && fdl push topic.sqlite &&
	unchanged 1 "no other ref leads to version $(cat third)" fdl branch -d towns topic &&
	fdl tag towns keep topic &&
	fdl branch -d towns topic &&
	fdl branch towns topic keep && fdl tag -d towns keep &&
	fdl branch -D towns topic
END

test_expect_success 'checkout -b makes a branch and a catalog that pushes to it' - <<\END
	fdl checkout -b work towns work.sqlite HEAD~1 &&
	test "$(fdl-resolve-ref --repo towns work)" = "$first" &&
	duck "$(fdl attach-sql --repo towns --working work.sqlite) CREATE TABLE lake.y AS SELECT 1 AS i" &&
	fdl commit work.sqlite -m 'Add y' >id && fdl push work.sqlite &&
	test "$(fdl-resolve-ref --repo towns work)" = "$(cat id)" &&
	test "$(fdl-resolve-ref --repo towns main)" = "$second" &&
	unchanged 2 "'work' exists already" fdl checkout -b work towns other.sqlite &&
	unchanged 128 'bad ref name' fdl checkout -b a..b towns other.sqlite &&
	unchanged 3 'neither a ref nor a version' fdl checkout -b new towns other.sqlite none &&
	test_path_is_missing other.sqlite &&
	test_path_is_missing other.sqlite.fdl &&
	work "DELETE FROM lake.towns WHERE name = 'Turku'" &&
	unchanged 1 'holds changes that were not committed' fdl checkout -b new towns lake.sqlite &&
	fdl checkout -f towns lake.sqlite
END

test_expect_success 'revert makes a version with the content of an older one' - <<\END
	fdl revert towns HEAD~1 >id &&
	test "$(fdl-resolve-ref --repo towns main)" = "$(cat id)" &&
	test "$(fdl-resolve-ref --repo towns HEAD~1)" = "$second" &&
	fdl log -n 1 --format '%B' towns >actual &&
	test_grep '^Go back to "Add towns"$' actual &&
	test_grep "^This has the content of version $first.$" actual &&
	duck "$(fdl url --sql towns) FROM lake.towns ORDER BY ALL" >actual &&
	duck "$(fdl url --sql towns "$first") FROM lake.towns ORDER BY ALL" >expect &&
	test_cmp expect actual &&
	fdl checkout towns lake.sqlite && work "DELETE FROM lake.towns WHERE name = 'Turku'" &&
	fdl commit lake.sqlite -m 'Without Turku' && fdl push lake.sqlite
END

test_expect_success 'with another message, author and branch' - <<\END
	fdl revert --branch work -m 'Start anew' --author 'B <b@example.com>' towns "$second" >id &&
	test "$(fdl-resolve-ref --repo towns work)" = "$(cat id)" &&
	fdl log -n 1 --format '%an: %s' towns work >actual &&
	echo 'B: Start anew' >expect &&
	test_cmp expect actual
END

test_expect_success 'nothing to revert, and what cannot be reverted to' - <<\END
	unchanged 1 'nothing to revert' fdl revert towns HEAD &&
	unchanged 3 'neither a ref nor a version' fdl revert towns none &&
	unchanged 3 'refs/heads/none' fdl revert --branch none towns HEAD~1 &&
	file=$(fdl-ls-version --repo towns "$first" | cut -f 1) &&
	mv "towns/$file" kept &&
	tip=$(fdl-resolve-ref --repo towns HEAD) &&
	test_expect_code 3 fdl revert towns "$first" 2>err &&
	test_grep "^$file	missing" err &&
	test "$(fdl-resolve-ref --repo towns HEAD)" = "$tip" &&
	mv kept "towns/$file" &&
	printf '{"fdl":"1.0","reason":"withdrawn","at":"2026-12-01T00:00:00Z","message":"wrong units"}\n' |
	fdl-put-object --repo towns "versions/$first/expired.json" &&
	unchanged 4 'wrong units' fdl revert towns "$first" &&
	unchanged 4 'wrong units' fdl tag towns withdrawn "$first"
END

test_done
