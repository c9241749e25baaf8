#!/bin/sh

test_description='how many requests the commands make of a bucket'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

towns=s3://lakes/towns

# asks COMMAND...: the requests it makes of the bucket: method and status of each kind of object, sorted, with their number.
asks() {
	requests "$@" >all &&
	grep "[0-9]$" all |
		sed "s,versions/[^/ ]*/,,; s,data/[^ ]*,data," | sort | uniq -c | sed "s/^ *//"
}

# write CATALOG SQL
write() {
	duck "$(fdl attach-sql --repo "$towns" --with-keys --working "$1") $2"
}

test_expect_success 'setup: a lake with seven files, and two catalogs of it' - <<\END
	fdl init $towns &&
	fdl checkout $towns lake.sqlite &&
	write lake.sqlite 'CREATE TABLE lake.t (i INTEGER)' &&
	for i in 1 2 3 4 5 6 7
	do
		write lake.sqlite "INSERT INTO lake.t VALUES ($i)" || return 1
	done &&
	fdl commit lake.sqlite -m one &&
	fdl push lake.sqlite &&
	fdl checkout --stage $towns staged.sqlite
END

test_expect_success 'fdl url: four' - <<\END
	asks fdl url $towns >actual &&
	cat >expect <<-EOF &&
	1 GET HEAD 200
	1 GET expired.json 404
	1 GET fdl.json 200
	1 GET refs/heads/main 200
	EOF
	test_cmp expect actual
END

test_expect_success 'fdl checkout: nine' - <<\END
	asks fdl checkout $towns other.sqlite >actual &&
	cat >expect <<-EOF &&
	1 GET HEAD 200
	1 GET dataset.json 200
	1 GET ducklake.duckdb 200
	1 GET expired.json 404
	1 GET files.json 200
	1 GET fdl.json 200
	1 GET refs/heads/main 200
	1 GET version.json 200
	1 GET version.json.sig 404
	EOF
	sort -k 3 actual >a && sort -k 3 expect >e &&
	test_cmp e a
END

test_expect_success 'fdl commit: two, and one for each file that the version names' - <<\END
	write lake.sqlite 'INSERT INTO lake.t VALUES (8)' &&
	write lake.sqlite 'INSERT INTO lake.t VALUES (9)' &&
	asks fdl commit lake.sqlite -m two >actual &&
	cat >expect <<-EOF &&
	1 GET fdl.json 200
	1 GET gc.json 404
	9 HEAD data 200
	EOF
	test_cmp expect actual
END

test_expect_success 'fdl push: one for each new file, four for the version, one for gc, the others for the refs' - <<\END
	cat >rest <<-EOF &&
	1 GET HEAD 200
	3 GET expired.json 404
	1 GET fdl.json 200
	1 GET refs.json 200
	4 GET refs/heads/main 200
	2 GET version.json 200
	1 LIST refs/ 200
	1 PUT dataset.json 200
	1 PUT ducklake.duckdb 200
	1 PUT files.json 200
	1 PUT refs.json 200
	1 PUT refs/heads/main 200
	1 PUT version.json 200
	EOF
	asks fdl push lake.sqlite >actual &&
	{ cat rest && echo '1 GET gc.json 404' && echo '2 HEAD data 200'; } | sort -k 2 >expect &&
	sort -k 2 actual >sorted &&
	test_cmp expect sorted
END

test_expect_success 'with --stage as well, where the one request sends the file' - <<\END
	fdl checkout --stage $towns staged.sqlite &&
	write staged.sqlite 'INSERT INTO lake.t VALUES (10); INSERT INTO lake.t VALUES (11); INSERT INTO lake.t VALUES (12)' &&
	fdl commit staged.sqlite -m three &&
	asks fdl push staged.sqlite >actual &&
	{ cat rest && echo '3 PUT data 200'; } | sort -k 2 >expect &&
	sort -k 2 actual >sorted &&
	test_cmp expect sorted
END

test_expect_success 'nothing to push: the branch and refs.json are looked at' - <<\END
	asks fdl push staged.sqlite >actual &&
	cat >expect <<-EOF &&
	1 GET HEAD 200
	1 GET expired.json 404
	1 GET fdl.json 200
	1 GET refs.json 200
	2 GET refs/heads/main 200
	1 GET version.json 200
	1 LIST refs/ 200
	EOF
	test_cmp expect actual
END

test_expect_success 'fdl log: two for each version, and the refs that it names' - <<\END
	asks fdl log $towns >actual &&
	cat >expect <<-EOF &&
	2 GET HEAD 200
	3 GET expired.json 404
	1 GET fdl.json 200
	2 GET refs/heads/main 200
	3 GET version.json 200
	1 LIST refs/ 200
	EOF
	test_cmp expect actual
END

test_expect_success 'nothing asks the server for leave to send' - <<\END
	start_faults &&
	fdl checkout --stage $towns staged.sqlite &&
	write staged.sqlite 'INSERT INTO lake.t VALUES (13)' &&
	fdl commit staged.sqlite -m four &&
	fdl push staged.sqlite &&
	test_grep '^PUT .*parquet -$' "$log" &&
	! grep '100-continue' "$log"
END

test_done
