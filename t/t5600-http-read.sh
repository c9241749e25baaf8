#!/bin/sh

test_description='a repository is read from any web server that serves its files'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-http.sh
. "$TEST_DIRECTORY/lib-http.sh"

# each COMMAND...: the command with $url behind Python's server, and behind nginx.
each() {
	for url in "$python" "$nginx_url"
	do
		"$@" || {
			echo "from $url"
			return 1
		}
	done
}

test_expect_success 'a repository with two versions, a tag and a second branch' '
	mkdir www &&
	cd www &&
	setup_towns &&
	id=$(fdl-resolve-ref --repo towns main) &&
	old=$(fdl-resolve-ref --repo towns main~1) &&
	fdl-update-ref --repo towns refs/tags/v1 "$old" &&
	fdl-update-ref --repo towns refs/heads/a/b "$id" &&
	fdl-update-server-info --repo towns
'

id=$(fdl-resolve-ref --repo www/towns main) old=$(fdl-resolve-ref --repo www/towns v1)
start_python "$TRASH_DIRECTORY/www"
python=$url/towns
start_nginx "$TRASH_DIRECTORY/www"
nginx_url=$url/towns

# same COMMAND: it prints of "$url" what it prints of the folder; the command names the repository as R.
same() {
	for command
	do
		eval "$(echo "$command" | sed 's,R,www/towns,')" >expect &&
		test -s expect &&
		eval "$(echo "$command" | sed 's,R,"$url",')" >actual &&
		test_cmp expect actual || return 1
	done
}

test_expect_success 'refs and versions are found and shown' '
	each same "fdl log R" "fdl log R v1" "fdl show R" "fdl show R v1" "fdl-for-each-ref --repo R" \
		"fdl-for-each-ref --repo R refs/heads" "fdl-resolve-ref --repo R HEAD" "fdl-resolve-ref --repo R main~1" \
		"fdl-resolve-ref --repo R a/b" "fdl-rev-list --repo R main" "fdl-symbolic-ref --repo R HEAD" \
		"fdl-ls-version --repo R main" "fdl-cat-version --repo R v1" "fdl-cat-object --repo R refs.json"
'

# reads: the statement that fdl prints attaches the version at $url.
reads() {
	fdl url "$url" v1 >actual &&
	test "$(cat actual)" = "$url/versions/$old/ducklake.duckdb" &&
	duck "$(fdl url --sql "$url") SELECT count(*) FROM lake.towns" >actual &&
	duck "$(fdl url --sql www/towns) SELECT count(*) FROM lake.towns" >expect &&
	test_cmp expect actual
}

test_expect_success 'DuckDB reads a version by its URL' '
	each reads
'

# fetches: a copy of the catalog is what is at $url.
fetches() {
	rm -rf cache &&
	copy=$(XDG_CACHE_HOME=$PWD/cache fdl-fetch-catalog --repo "$url" v1) &&
	cmp "www/towns/versions/$old/ducklake.duckdb" "$copy"
}

test_expect_success 'a catalog is fetched and checked' '
	each fetches
'

test_expect_success 'a name that is a folder of the server, or nothing there, is no ref' '
	each eval "refused 3 \"is neither a ref nor a version\" fdl-resolve-ref --repo \"\$url\" a" &&
	each eval "refused 3 \"is neither a ref nor a version\" fdl-resolve-ref --repo \"\$url\" nothing" &&
	each eval "refused 3 \"versions/$id/expired.json. is not in\" fdl-cat-object --repo \"\$url\" versions/$id/expired.json" &&
	each eval "refused 128 \"is not a repository: it has no fdl.json\" fdl log \"\$url/none\""
'

test_expect_success 'each request is made once' '
	requests fdl-resolve-ref --repo "$nginx_url" main >actual &&
	cat >expect <<-END &&
	GET fdl.json 200
	GET refs/heads/main 200
	GET refs/tags/main 404
	END
	test_cmp expect actual
'

test_expect_success 'what needs a list says so' '
	each eval "refused 6 \"cannot list .*: over HTTP there are no lists\" fdl-ls-objects --repo \"\$url\"" &&
	each eval "refused 6 \"cannot list .*versions/.: over HTTP there are no lists\" fdl-resolve-ref --repo \"\$url\" 0190"
'

test_expect_success 'without refs.json, refs that are there are not denied' '
	mv www/towns/refs.json kept &&
	test_when_finished "mv kept www/towns/refs.json" &&
	each eval "refused 6 \"has no refs.json, and over HTTP there are no lists\" fdl-for-each-ref --repo \"\$url\"" &&
	test_grep "^hint: .*fdl update-server-info" refused.err &&
	each same "fdl url R main | sed s,.*versions,," "fdl-rev-list --repo R main"
'

# writes_nothing: whatever writes is refused in one line.
writes_nothing() {
	refused 6 "does not let anybody write .x. in\|gives .refs/heads/main. no ETag" eval "echo x | fdl-put-object --repo \"$url\" x" &&
	test_expect_code 6 eval "echo HEAD | fdl-rm-objects --repo \"$url\"" 2>err &&
	test_grep "does not let anybody delete .HEAD. in" err &&
	refused 6 "^error: " fdl-update-ref --repo "$url" refs/heads/new "$id" "" &&
	refused 128 "a repository behind HTTP is made where its host keeps it" fdl init "$url/new"
}

test_expect_success 'a server that only serves files says no to what is written' '
	tree www >before &&
	each writes_nothing &&
	tree www >after &&
	test_cmp before after
'

test_expect_success 'over TLS a host is trusted that the system trusts, and no other' '
	refused 6 "cannot reach .$tls. safely" fdl-resolve-ref --repo "$tls/towns" main &&
	SSL_CERT_FILE=$nginx/ca.pem fdl-resolve-ref --repo "$tls/towns" main >actual &&
	echo "$id" >expect &&
	test_cmp expect actual
'

test_expect_success 'a URL that holds more than a place is refused' '
	refused 128 "it holds a user or a password" fdl log "http://me:secret@127.0.0.1/towns" &&
	! grep secret refused.err &&
	refused 128 "bad URL .*: it holds a .?. or a .#." fdl log "$nginx_url?x" &&
	refused 128 "bad URL .*" fdl log "http://" &&
	refused 128 "no store for .ftp://." fdl log "ftp://127.0.0.1/towns"
'

test_expect_success 'a server that is not there is told' '
	refused 6 "cannot reach .http://127.0.0.1:1.: connection refused" fdl log http://127.0.0.1:1/towns
'

test_done
