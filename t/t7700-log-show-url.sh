#!/bin/sh

test_description='fdl log, fdl show and fdl url'

. "${0%/*}/test-lib.sh"

test_expect_success 'setup' '
	setup_towns &&
	first=$(fdl-resolve-ref --repo towns HEAD~1) &&
	second=$(fdl-resolve-ref --repo towns HEAD) &&
	fdl-update-ref --repo towns refs/tags/v1 "$first"
'

test_expect_success 'log shows id, refs, author, date and message' - <<\END
	fdl log towns >actual &&
	cat >expect <<-EOF &&
	version $second (HEAD -> main)
	Author:  A U Thor <author@example.com>
	Date:    $(fdl-cat-version --repo towns --format %aI HEAD)

	    Leave out small towns

	version $first (tag: v1)
	Author:  A U Thor <author@example.com>
	Date:    $(fdl-cat-version --repo towns --format %aI HEAD~1)

	    Add towns
	EOF
	sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' actual >trimmed &&
	test_cmp expect trimmed
END

test_expect_success 'log of a name, and of fewer versions' '
	fdl log --format %s towns v1 >actual &&
	echo "Add towns" >expect &&
	test_cmp expect actual &&
	fdl log -n 1 --format %s towns >actual &&
	echo "Leave out small towns" >expect &&
	test_cmp expect actual &&
	fdl log -n1 --format=%s towns >actual &&
	test_cmp expect actual
'

test_expect_success 'log --json is a JSON object a line' - <<\END
	fdl log --json towns >out &&
	python3 -c "
import json
for line in open('out'):
    version = json.loads(line)
    print(version['id'], version['message'], version['author'], sep='|')" >actual &&
	cat >expect <<-EOF &&
	$second|Leave out small towns|A U Thor <author@example.com>
	$first|Add towns|A U Thor <author@example.com>
	EOF
	test_cmp expect actual
END

test_expect_success 'log -z ends each version with NUL' '
	fdl log -z --format %H towns | tr "\0" "\n" >actual &&
	fdl log --format %H towns >expect &&
	test_cmp expect actual
'

test_expect_success 'log of a working catalog is that of its repository' '
	fdl log --format %H lake.sqlite >actual &&
	test_cmp expect actual
'

test_expect_success 'log of an expired version still shows it' - <<\END
	test_when_finished "rm towns/versions/$first/expired.json" &&
	printf '{"fdl":"1.0","reason":"expired","at":"2026-12-01T00:00:00Z","message":"old"}\n' >"towns/versions/$first/expired.json" &&
	fdl log --format %H towns >actual &&
	test_cmp expect actual &&
	fdl log towns | grep 'expired'
END

test_expect_success 'log refuses what it does not know' '
	test_expect_code 129 fdl log &&
	test_expect_code 129 fdl log towns HEAD more &&
	test_expect_code 129 fdl log --format "%q" towns &&
	test_expect_code 129 fdl log -n x towns &&
	refused 3 nowhere fdl log towns nowhere
'

test_expect_success 'a reader of log that goes away is no error' - <<\END
	(fdl log towns; echo $? >status) 2>err | true &&
	test_line_count 0 err &&
	case $(cat status) in 0 | 141) ;; *) false ;; esac
END

test_expect_success 'show tells the version and its tables' - <<\END
	work "CREATE VIEW lake.v AS SELECT 1 AS one" &&
	fdl commit lake.sqlite -m 'Add v' &&
	fdl push lake.sqlite &&
	fdl show towns >actual &&
	test_grep '    Add v' actual &&
	test_grep '^main.towns: [0-9]* rows, [0-9]* files, [0-9]* bytes$' actual &&
	test_grep '^main.v: view$' actual &&
	fdl show towns v1 >actual &&
	test_grep '    Add towns' actual &&
	! grep 'main.v' actual
END

test_expect_success 'url prints where the catalog is' '
	fdl url towns v1 >actual &&
	echo "$TRASH_DIRECTORY/towns/versions/$first/ducklake.duckdb" >expect &&
	test_cmp expect actual &&
	test_path_is_file "$(cat actual)"
'

test_expect_success 'url --sql prints the whole statement of a reader' - <<\END
	fdl url --sql --as 'my lake' towns v1 >actual &&
	cat >expect <<-EOF &&
	ATTACH 'ducklake:$TRASH_DIRECTORY/towns/versions/$first/ducklake.duckdb' AS "my lake" (
	    DATA_PATH '$TRASH_DIRECTORY/towns/data/',
	    OVERRIDE_DATA_PATH true,
	    READ_ONLY
	);
	EOF
	test_cmp expect actual &&
	duck "$(cat actual) SELECT count(*) > 0 FROM \"my lake\".towns" >out &&
	echo true >expect &&
	test_cmp expect out
END

test_done
