#!/bin/sh

test_description='a push over HTTP: files straight to storage or through the host, and hosts that keep their refs'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-http.sh
. "$TEST_DIRECTORY/lib-http.sh"

unset FDL_REPO
mkdir www
start_host "$TRASH_DIRECTORY/www"
start other python3 "$TEST_DIRECTORY/httphost.py" "$TRASH_DIRECTORY/www" "$TRASH_DIRECTORY/other.port" /dev/null \
	"$TRASH_DIRECTORY/seen2"
other=http://127.0.0.1:$port
work=$TRASH_DIRECTORY/lake.sqlite.fdl

# commit MESSAGE: a version of the working catalog with one file that is not in the repository yet.
commit() {
	mkdir -p "$work/data/main/t" &&
	printf '%s\n' "$1" >"$work/data/main/t/$1.parquet" &&
	parent=$(fdl-resolve-ref --repo "$work" --or-none main) &&
	make_parts "$1" "{\"path\":\"main/t/$1.parquet\",\"size\":$((${#1} + 1)),\"kind\":\"data\"}" &&
	FDL_REPO=$work write_parts -m "$1" ${parent:+--parent "$parent"} >id &&
	fdl-update-ref --repo "$work" refs/heads/main "$(cat id)"
}

# has ID NAME: the version and its file are in the repository.
has() {
	for part in version.json ducklake.duckdb files.json dataset.json
	do
		cmp "$work/versions/$1/$part" "www/repo/versions/$1/$part" || return 1
	done
	test "$(cat "www/repo/data/main/t/$2.parquet")" = "$2"
}

# asked: what was asked of the host, each method and path in its order, the id as ID.
asked() {
	sed -e "s/$(cat id)/ID/" -e 's/ [^ ]*$//' "$seen"
}

test_expect_success 'a repository, and its working catalog' '
	fdl-create-repository www/repo &&
	fdl-update-server-info --repo www/repo &&
	fdl checkout "$url/repo" lake.sqlite >attach
'

test_expect_success 'a first push goes through a host without batches' '
	commit one &&
	fdl push lake.sqlite >out &&
	test_grep "^\\.\\.$(cat id) -> main, 1 new files$" out &&
	has "$(cat id)" one &&
	test "$(cat www/repo/refs/heads/main)" = "$(cat id)" &&
	test_grep "\"refs/heads/main\": \"$(cat id)\"" www/repo/refs.json &&
	fdl push lake.sqlite >out &&
	test_grep "everything is pushed" out
'

test_expect_success 'what a push asks for, request by request' '
	old=$(cat id) &&
	commit two &&
	behave refs-json-denied &&
	fdl push lake.sqlite &&
	asked >all &&
	grep -v "^GET /repo/fdl.json\|^HEAD .*/one.parquet" all | sed "s/$old/OLD/" >asked &&
	cat >expect <<-END &&
	GET /repo/refs/heads/main 200
	GET /repo/versions/OLD/expired.json 404
	GET /repo/versions/OLD/version.json 200
	POST /repo/?batch 501
	PUT /repo/data/main/t/two.parquet 201
	PUT /repo/versions/ID/ducklake.duckdb 201
	PUT /repo/versions/ID/dataset.json 201
	PUT /repo/versions/ID/files.json 201
	PUT /repo/versions/ID/version.json 201
	GET /repo/refs/heads/main 200
	GET /repo/versions/ID/version.json 200
	GET /repo/versions/ID/expired.json 404
	PUT /repo/refs/heads/main 201
	GET /repo/refs/heads/main 200
	GET /repo/versions/ID/expired.json 404
	GET /repo/refs.json 200
	GET /repo/refs/heads/main 200
	GET /repo/HEAD 200
	PUT /repo/refs.json 403
	END
	: "whether a version is there and whether it is expired is asked at once; what changes the store has its order" &&
	sort expect >expect.all &&
	sort asked >actual.all &&
	test_cmp expect.all actual.all &&
	grep -v ^GET expect >expect.changes &&
	grep -v ^GET asked >actual.changes &&
	test_cmp expect.changes actual.changes
'

test_expect_success 'with a batch the files go straight to storage, and nobody there is told who asks' '
	commit three &&
	behave batch "token s3cret" &&
	FDL_HTTP_TOKEN=s3cret fdl push lake.sqlite &&
	has "$(cat id)" three &&
	test_grep "^POST /repo/?batch 200 Bearer s3cret$" "$seen" &&
	test_grep "^PUT /straight/repo/data/main/t/three.parquet 201 -$" "$seen" &&
	! grep "^[A-Z]* /repo/data" "$seen" | grep -v "^HEAD"
'

test_expect_success 'with the method that the host names, and to another server' '
	commit patch &&
	behave batch-PATCH &&
	fdl push lake.sqlite &&
	has "$(cat id)" patch &&
	test_grep "^PATCH /straight/repo/data/main/t/patch.parquet 201 -$" "$seen" &&
	commit away &&
	behave "batch-away $other/straight" &&
	: >seen2 &&
	fdl push lake.sqlite &&
	has "$(cat id)" away &&
	test_grep "^PUT /straight/repo/data/main/t/away.parquet 201 -$" seen2
'

test_expect_success 'what the host does not hand out goes through it' '
	commit through &&
	behave batch-through &&
	fdl push lake.sqlite &&
	has "$(cat id)" through &&
	test_grep "^PUT /repo/data/main/t/through.parquet 201 -$" "$seen"
'

test_expect_success 'a URL that has ended is asked for again' '
	commit ended &&
	behave batch-ended &&
	fdl push lake.sqlite &&
	has "$(cat id)" ended &&
	test "$(grep -c "^POST /repo/?batch 200" "$seen")" = 2 &&
	test "$(grep -c "^PUT /straight/" "$seen")" = 1 &&
	commit denied &&
	behave batch &&
	faults "1 403 PUT /straight/" &&
	fdl push lake.sqlite &&
	has "$(cat id)" denied &&
	test "$(grep -c "^POST /repo/?batch" "$log")" = 2
'

test_expect_success 'an upload whose answer is lost is no conflict' '
	for fault in drop-before drop-after 500 500-after 503 429
	do
		commit "up-$fault" &&
		behave batch &&
		faults "1 $fault PUT /straight/" &&
		fdl push lake.sqlite &&
		has "$(cat id)" "up-$fault" || return 1
	done
'

test_expect_success 'files that are there are not sent' '
	commit there &&
	mkdir -p www/repo/data/main/t &&
	echo there >www/repo/data/main/t/there.parquet &&
	behave batch &&
	fdl push lake.sqlite &&
	has "$(cat id)" there &&
	! grep "^PUT.*there.parquet" "$seen"
'

test_expect_success 'a host is asked about a thousand files at once' '
	echo x >x &&
	for n in $(seq 2001)
	do
		printf "data/many/%s.parquet\tx\t2\n" "$n"
	done >many &&
	behave batch &&
	fdl-send-files --repo "$host/repo" <many >sent &&
	test "$(grep -c ^sent sent)" = 2001 &&
	test "$(grep -c "^POST" "$seen")" = 3 &&
	test "$(grep -c "^PUT /straight/" "$seen")" = 2001 &&
	test "$(wc -l <"$seen")" = 2005 &&
	behave batch &&
	fdl-send-files --repo "$host/repo" <many >sent &&
	test "$(grep -c ^present sent)" = 2001 &&
	test "$(wc -l <"$seen")" = 4
'

test_expect_success 'an answer to a batch that makes no sense is refused, and nothing is moved' '
	commit nonsense &&
	before=$(cat www/repo/refs/heads/main) &&
	faults &&
	key=data/main/t/nonsense.parquet &&
	while read -r answer
	do
		behave "batch-JSON $answer" &&
		refused 6 "bad answer of .*?batch" fdl push lake.sqlite || return 1
	done <<-END &&
	nonsense
	{}
	{"files":[]}
	{"files":[{"key":"$key"}]}
	{"files":[{"key":"$key","upload":{"url":"file:///tmp/x"}}]}
	{"files":[{"key":"$key","upload":{"url":"nonsense"}}]}
	{"files":[{"key":"$key","upload":{"url":"$url/x","headers":{"a b":"c"}}}]}
	{"files":[{"key":"$key","upload":{"url":"$url/x","headers":{"Content-Length":"1"}}}]}
	END
	behave "batch-JSON {\"files\":[{\"key\":\"$key\",\"error\":{\"code\":422,\"message\":\"too odd\"}}]}" &&
	refused 6 "refuses .$key.: 422 too odd" fdl push lake.sqlite &&
	test "$(cat www/repo/refs/heads/main)" = "$before" &&
	behave &&
	fdl push lake.sqlite
'

test_expect_success 'a host that refuses the version says why, and the version can be pushed later' '
	commit refused &&
	before=$(cat www/repo/refs/heads/main) &&
	behave "refuse no signature|fewer rows than before" &&
	refused 6 "refuses to write .refs/heads/main. .*: no signature; fewer rows than before$" fdl push lake.sqlite &&
	test "$(cat www/repo/refs/heads/main)" = "$before" &&
	behave &&
	fdl push lake.sqlite &&
	has "$(cat id)" refused
'

test_expect_success 'another writer who was first is told, whatever happened to our answer' '
	commit lost &&
	theirs=$(FDL_REPO=$PWD/www/repo write_version theirs --parent "$(cat www/repo/refs/heads/main)") &&
	behave &&
	faults &&
	cp www/repo/refs/heads/main kept &&
	echo "$theirs" >www/repo/refs/heads/main &&
	refused 2 "another writer pushed to .main. first: $theirs by " fdl push lake.sqlite &&
	cp kept www/repo/refs/heads/main &&
	fdl push lake.sqlite &&
	has "$(cat id)" lost
'

test_expect_success 'a host that keeps its refs ends the push with the id and what comes next' '
	before=$(cat www/repo/refs/heads/main) &&
	commit wait &&
	commit wait-more &&
	behave refs-denied &&
	test_expect_code 1 fdl push lake.sqlite >out 2>err &&
	test_grep "keeps .refs/heads/main. in .* to itself: wait for approval$" err &&
	test_grep "^hint: .main. is moved to $(cat id) by whoever may; then .fdl push. takes note of it$" err &&
	test_grep "^.*\\.\\.$(cat id) is in the repository, 1 new files; main has not moved$" out &&
	test_line_count 2 out &&
	has "$(cat id)" wait-more &&
	test "$(grep -c "^PUT /repo/refs/" "$seen")" = 1 &&
	test "$(cat www/repo/refs/heads/main)" = "$before" &&
	behave &&
	fdl push --no-ref lake.sqlite >out 2>err &&
	test_line_count 2 out &&
	! grep "^PUT /repo/refs" "$seen" &&
	test "$(cat www/repo/refs/heads/main)" = "$before"
'

test_expect_success 'and when the host has moved it, a push takes note' '
	cp id www/repo/refs/heads/main &&
	fdl push lake.sqlite >out &&
	test_grep "everything is pushed" out &&
	test "$(fdl-resolve-ref --repo "$work" refs/remotes/origin/main)" = "$(cat id)" &&
	fdl push --no-ref lake.sqlite >out &&
	test_grep "everything is pushed" out
'

test_done
