#!/bin/sh

test_description='DuckDB writes into the bucket and reads from it, and fdl makes no request too many'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

FDL_REPO=s3://lakes/repo

# secret OPTION...: the statement before the one that attaches.
secret() {
	fdl-attach-sql "$@" --working any.sqlite | sed "/^ATTACH/,\$d"
}

test_expect_success 'the secret has no keys in it unless asked for' '
	fdl-create-repository s3://lakes/repo &&
	cat >expect <<-END &&
	CREATE OR REPLACE SECRET lake (
	    TYPE s3,
	    PROVIDER credential_chain,
	    REGION '\''us-east-1'\'',
	    ENDPOINT '\''127.0.0.1:$s3_port'\'',
	    URL_STYLE '\''path'\'',
	    USE_SSL false,
	    SCOPE '\''s3://lakes/repo/'\''
	);
	END
	secret >actual &&
	test_cmp expect actual &&
	secret --with-keys >actual &&
	test_grep "KEY_ID .test-key.,$" actual &&
	test_grep "SECRET .test-secret.,$" actual &&
	! grep credential_chain actual &&
	AWS_SESSION_TOKEN="to'\''ken" secret --with-keys >actual &&
	test_grep "SESSION_TOKEN .to'\'''\''ken.,$" actual
'

test_expect_success 'a folder needs no secret' '
	fdl-create-repository repo &&
	fdl-attach-sql --repo repo --with-keys --working any.sqlite >actual &&
	test_grep "^ATTACH" actual &&
	! grep SECRET actual
'

test_expect_success 'DuckDB writes data files straight into the bucket' '
	duck "$(secret --with-keys) ATTACH '\''ducklake:made.duckdb'\'' AS w
		(DATA_PATH '\''s3://lakes/repo/data/'\'', DATA_INLINING_ROW_LIMIT 0);
		CREATE TABLE w.t AS SELECT range AS n, '\''é'\'' AS s FROM range(1000)" &&
	fdl-ls-objects data >files &&
	test_line_count 1 files &&
	test_grep "^data/main/t/ducklake-.*\.parquet	" files
'

test_expect_success 'it reads the version that is published, with the statement that is printed' '
	make_parts one &&
	cp made.duckdb catalog &&
	one=$(write_parts -m one) &&
	fdl-update-ref refs/heads/main "$one" "" &&
	echo "1000	499500	é" >expect &&
	duck "$(fdl url --sql --with-keys s3://lakes/repo) SELECT count(*), sum(n), max(s) FROM lake.t" >actual &&
	test_cmp expect actual
'

test_expect_success 'a public bucket is read without keys' '
	policy="{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\",\"Resource\":\"arn:aws:s3:::lakes/*\"}]}" &&
	printf "%s" "$policy" | s3 PUT "/lakes?policy" &&
	(
		unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY &&
		fdl url --sql s3://lakes/repo >sql &&
		! grep -e KEY_ID -e PROVIDER sql &&
		duck "$(cat sql) SELECT count(*), sum(n), max(s) FROM lake.t" >actual &&
		refused 128 "there are no keys to print" fdl url --sql --with-keys s3://lakes/repo
	) &&
	test_cmp expect actual
'

test_expect_success '--public names it by URLs that anybody can read' - <<\END
	(
		unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY &&
		fdl url --public s3://lakes/repo >url &&
		echo "http://127.0.0.1:$s3_port/lakes/repo/versions/$one/ducklake.duckdb" >named &&
		test_cmp named url &&
		fdl url --public --sql s3://lakes/repo >sql &&
		! grep -e SECRET -e s3: sql &&
		env -u AWS_ENDPOINT_URL -u AWS_REGION -u AWS_DEFAULT_REGION duck "$(cat sql) \
			SELECT count(*), sum(n), max(s) FROM lake.t" >actual
	) &&
	test_cmp expect actual &&
	test_expect_code 129 fdl url --public --sql --with-keys s3://lakes/repo 2>err &&
	test_grep "--public and --with-keys do not go together" err &&
	test_expect_code 129 fdl-attach-sql --repo s3://lakes/repo --public --working x 2>err &&
	test_grep "--public is for readers without keys" err
END

test_expect_success '--with-keys goes with --sql' '
	test_expect_code 129 fdl url --with-keys s3://lakes/repo 2>err &&
	test_grep "with-keys goes with --sql" err
'

test_expect_success 'a ref is moved on one condition and read back once' '
	make_parts two &&
	two=$(write_parts -m two --parent "$one") &&
	requests fdl-update-ref refs/heads/main "$two" "$one" >asked &&
	# the third and the fourth are made at once
	{ sed -n "1,2p" asked && sed -n "3,4p" asked | sort && sed 1,4d asked; } >actual &&
	cat >expect <<-END &&
	GET fdl.json 200
	GET refs/heads/main 200
	GET versions/$two/expired.json 404
	GET versions/$two/version.json 200
	PUT refs/heads/main 200
	GET refs/heads/main 200
	GET versions/$two/expired.json 404
	END
	test_cmp expect actual
'

test_expect_success 'a file that is new makes one request; where a push goes on, those that are there are not sent again' '
	head -c 1000 /dev/urandom >file &&
	for i in 1 2 3 4 5
	do
		printf "data/main/t/%s.parquet\t%s\t1000\n" $i "$PWD/file" || return 1
	done >list &&
	requests fdl-send-files <list | sort | cut -d " " -f 1,3 | uniq -c | tr -s " " >actual &&
	printf " %s\n" "1 GET 200" "5 PUT 200" >expect &&
	test_cmp expect actual &&
	printf "data/main/t/6.parquet\t%s\t1000\n" "$PWD/file" >>list &&
	requests fdl-send-files --resume <list | sort | cut -d " " -f 1,3 | uniq -c | tr -s " " >actual &&
	printf " %s\n" "1 GET 200" "5 HEAD 200" "1 HEAD 404" "1 PUT 200" >expect &&
	test_cmp expect actual &&
	fdl-send-files <list | cut -f 1 | sort | uniq -c | tr -s " " >actual &&
	echo " 6 present" >expect &&
	test_cmp expect actual
'

test_expect_success 'a version is sent with one request a file' '
	fdl-create-repository --like s3://lakes/repo copy &&
	fdl-send-version --from s3://lakes/repo --repo copy "$one" &&
	fdl-create-repository --like copy s3://lakes/copy &&
	requests fdl-send-version --from copy --repo s3://lakes/copy "$one" >actual &&
	grep -v ok actual | grep -v absent >asked &&
	cat >expect <<-END &&
	GET fdl.json 200
	PUT versions/$one/ducklake.duckdb 200
	PUT versions/$one/dataset.json 200
	PUT versions/$one/files.json 200
	PUT versions/$one/version.json 200
	END
	test_cmp expect asked
'

test_done
