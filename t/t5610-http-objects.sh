#!/bin/sh

test_description='objects are read and written through a host, whatever happens on the way'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-http.sh
. "$TEST_DIRECTORY/lib-http.sh"

mkdir www
start_host "$TRASH_DIRECTORY/www"
start other python3 "$TEST_DIRECTORY/httphost.py" "$TRASH_DIRECTORY" "$TRASH_DIRECTORY/other.port" /dev/null \
	"$TRASH_DIRECTORY/seen2"
other=http://127.0.0.1:$port
main=refs/heads/main
store=$TRASH_DIRECTORY/www/repo
FDL_REPO=$store

test_expect_success 'versions to point at' '
	fdl-create-repository "$store" &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	beside=$(write_version beside --parent "$one") &&
	fdl-update-ref $main "$one" &&
	fdl-update-server-info
'

FDL_REPO=$url/repo

# put OPTION... KEY TEXT
put() {
	text=$1
	shift
	printf '%s\n' "$text" | fdl-put-object "$@"
}

# holds KEY TEXT
holds() {
	test "$(cat "$store/$1")" = "$2"
}

# write_helper: a credential helper that notes what it is asked.
write_helper() {
	cat >git-credential-towns <<-\END &&
	#!/bin/sh
	{ echo "$1"; cat; } >>"${0%/*}/asked"
	test "$1" != get || printf "username=me\npassword=mine\n"
	END
	chmod +x git-credential-towns
}

# count METHOD KEY N: so many requests were made.
count() {
	found=$(grep -c "^$1 /repo/$2 " "$log")
	test "$found" = "$3" || {
		echo "$found requests $1 $2 instead of $3:"
		cat "$log"
		return 1
	}
}

test_expect_success 'an object is made, replaced on condition, told and deleted' '
	put one --if-none-match x/one &&
	holds x/one one &&
	refused 2 "does not match the condition" put two --if-none-match x/one &&
	tag=\"$(sha256sum <"$store/x/one" | cut -d " " -f 1)\" &&
	put two --if-match "$tag" x/one &&
	refused 2 "does not match the condition" put three --if-match "$tag" x/one &&
	holds x/one two &&
	test "$(fdl-cat-object x/one)" = two &&
	echo x/one | fdl-rm-objects >out &&
	refused 3 "is not in" fdl-cat-object x/one
'

test_expect_success 'a key is the path it says, and nothing else' '
	key="data/größe/x=1/a+b c" &&
	put here --if-none-match "$key" &&
	holds "$key" here &&
	test "$(fdl-cat-object "$key")" = here
'

# moved_despite FAULT...: the first PUT of a ref meets the fault, and the ref is moved all the same.
moved_despite() {
	for fault
	do
		faults &&
		fdl-update-ref -d refs/heads/try 2>/dev/null
		fdl-update-ref refs/heads/try "$one" "" &&
		faults "1 $fault PUT refs/heads/try" &&
		fdl-update-ref refs/heads/try "$two" "$one" &&
		faults &&
		holds refs/heads/try "$two" || return 1
	done
}

test_expect_success 'a ref is moved, whatever happens to the first answer' '
	moved_despite drop-before drop-after 500 500-after 503 429 slow-down
'

# made_despite FAULT...: the same for a ref that is new.
made_despite() {
	for fault
	do
		faults "1 $fault PUT refs/tags/$fault" &&
		fdl-update-ref "refs/tags/$fault" "$one" "" &&
		faults &&
		holds "refs/tags/$fault" "$one" || return 1
	done
}

test_expect_success 'a ref is made, whatever happens to the first answer' '
	made_despite drop-before drop-after 500 500-after 503 429
'

test_expect_success 'a write whose answer is lost is made once, and what stands there decides' '
	faults "1 drop-after PUT x/lost" &&
	put lost --if-none-match x/lost &&
	count PUT x/lost 1 &&
	count GET x/lost 1 &&
	head -c 300000 /dev/urandom >file &&
	faults "1 drop-after PUT x/large" &&
	fdl-put-object --if-none-match x/large <file &&
	count PUT x/large 1 &&
	cmp file "$store/x/large" &&
	faults "1 drop-before PUT x/never" &&
	put never --if-none-match x/never &&
	count PUT x/never 2 &&
	holds x/never never
'

test_expect_success 'a lost answer does not make a conflict a success' '
	faults "1 overtaken PUT x/raced" &&
	refused 2 "does not match the condition" put mine --if-none-match x/raced &&
	holds x/raced "another writer'\''s" &&
	faults &&
	put old refs/heads/raced &&
	tag=\"$(sha256sum <"$store/refs/heads/raced" | cut -d " " -f 1)\" &&
	faults "1 overtaken PUT refs/heads/raced" &&
	refused 75 "it is not known whether .refs/heads/raced. was written" put mine --if-match "$tag" refs/heads/raced &&
	holds refs/heads/raced "another writer'\''s" &&
	rm "$store/refs/heads/raced"
'

test_expect_success 'an answer that was lost, and then a conflict, are not called one where it was our own write' '
	faults "1 late-put PUT refs/heads/slow" &&
	fdl-update-ref refs/heads/slow "$one" "" &&
	holds refs/heads/slow "$one" &&
	faults "1 late-put PUT x/slow" &&
	put slow --if-none-match x/slow &&
	holds x/slow slow &&
	count PUT x/slow 2
'

test_expect_success '412 is an answer, and is not asked for again' '
	faults "* 412 PUT x/answer" &&
	test_expect_code 2 put x --if-none-match x/answer &&
	count PUT x/answer 1
'

test_expect_success 'where the object cannot be read after a doubtful write, the outcome is unknown' '
	faults "1 drop-after PUT x/unknown" "* 500 GET x/unknown" &&
	refused 75 "it is not known whether .x/unknown. was written" put x --if-none-match x/unknown
'

test_expect_success 'a host that refuses is asked once, and its word is shown' '
	for fault in 403 404 413 501 507
	do
		faults "* $fault PUT x/no" &&
		refused 6 "does not let you write it\|does not let anybody write\|is larger than\|has no room" \
			put x --if-none-match x/no &&
		count PUT x/no 1 || return 1
	done &&
	behave "refuse the parent is not what the ref holds|data/a.parquet is missing" &&
	faults &&
	refused 6 "refuses to write .refs/heads/no. .*: the parent is not what the ref holds; data/a.parquet is missing$" \
		fdl-update-ref refs/heads/no "$one" "" &&
	count PUT refs/heads/no 1 &&
	behave "refuse-text no signature|ask\\033[2J the owner" &&
	refused 6 ": no signature; ask.* the owner$" fdl-update-ref refs/heads/no "$one" "" &&
	behave &&
	test_path_is_missing "$store/refs/heads/no"
'

test_expect_success 'a host that does not want a large body says so before it is sent' '
	head -c 20000000 /dev/zero >large &&
	behave full &&
	test_when_finished behave &&
	refused 6 "is larger than .* takes: no more than a mebibyte$" \
		eval "fdl-put-object --repo \"$host/repo\" --if-none-match x/full <large" &&
	test "$(grep -c "^PUT /repo/x/full" "$seen")" = 1 &&
	! grep "^GET /repo/x/full" "$seen" &&
	behave &&
	fdl-put-object --repo "$host/repo" --if-none-match x/full <large &&
	cmp large "$store/x/full"
'

test_expect_success 'a host that keeps its refs to itself answers no' '
	behave refs-denied &&
	test_when_finished behave &&
	refused 1 "keeps .refs/heads/kept. in .* to itself: wait for approval$" fdl-update-ref refs/heads/kept "$one" "" &&
	count PUT refs/heads/kept 1 &&
	refused 1 "keeps .HEAD." fdl-symbolic-ref HEAD refs/heads/other
'

test_expect_success 'who asks must say so where the host wants to know' '
	behave "token s3cret" &&
	test_when_finished behave &&
	refused 6 "wants to know who asks" fdl-resolve-ref main &&
	test_grep "^hint: .*FDL_HTTP_TOKEN" refused.err &&
	FDL_HTTP_TOKEN=s3cret fdl-resolve-ref main &&
	FDL_HTTP_TOKEN=other refused 6 "does not accept what FDL_HTTP_TOKEN holds" fdl-resolve-ref main &&
	! grep other refused.err &&
	FDL_HTTP_TOKEN="$(printf "a\nb")" refused 128 "what FDL_HTTP_TOKEN holds cannot be sent" fdl-resolve-ref main
'

test_expect_success '.netrc, or the file that NETRC names, says who asks' '
	echo "machine 127.0.0.1 login me password mine" >.netrc &&
	test_when_finished "rm .netrc" &&
	behave &&
	fdl-resolve-ref main &&
	test_grep "^GET /repo/HEAD\|^GET /repo/fdl.json 200 Basic $(printf me:mine | base64)$" "$seen" &&
	echo "default login you password yours" >netrc &&
	behave &&
	NETRC=$PWD/netrc fdl-resolve-ref main &&
	test_grep "^GET /repo/fdl.json 200 Basic $(printf you:yours | base64)$" "$seen" &&
	refused 128 "cannot read" env NETRC="$PWD" fdl-resolve-ref main
'

test_expect_success 'a credential helper of Git is asked when the host wants to know, and told how it went' '
	write_helper &&
	test_when_finished behave &&
	behave &&
	PATH=$PWD:$PATH &&
	FDL_CREDENTIAL_HELPER=towns fdl-resolve-ref main &&
	test_path_is_missing asked &&
	behave "basic me:mine" &&
	FDL_CREDENTIAL_HELPER=towns fdl-resolve-ref main &&
	test "$(grep -c " 401 " "$seen")" = 1 &&
	printf "%s\n" get "protocol=http" "host=${url#http://}" store "protocol=http" "host=${url#http://}" \
		username=me password=mine >expect &&
	test_cmp expect asked &&
	rm asked &&
	FDL_CREDENTIAL_HELPER="!\"$PWD/git-credential-towns\"" fdl-resolve-ref main &&
	test_cmp expect asked &&
	rm asked &&
	fdl-config set credential.helper nobody &&
	fdl-config set --add credential.helper "" &&
	fdl-config set --add credential.helper "!true" &&
	fdl-config set --add credential.helper towns &&
	test_when_finished "rm -r .config" &&
	fdl-resolve-ref main &&
	test_cmp expect asked &&
	rm asked &&
	behave "basic me:changed" &&
	FDL_CREDENTIAL_HELPER=towns refused 6 "does not accept what the credential helper holds" fdl-resolve-ref main &&
	sed s/store/erase/ expect >expect.erase &&
	test_cmp expect.erase asked &&
	FDL_CREDENTIAL_HELPER="!false" refused 128 "the credential helper .false. failed" fdl-resolve-ref main &&
	FDL_CREDENTIAL_HELPER="!true" refused 6 "wants to know who asks" fdl-resolve-ref main
'

test_expect_success 'a redirect is followed by who reads, and no other host is told who asks' '
	behave "away refs/heads/main $other/www/repo/refs/heads/main" &&
	test_when_finished behave &&
	: >seen2 &&
	FDL_HTTP_TOKEN=s3cret fdl-resolve-ref refs/heads/main >actual &&
	echo "$one" >expect &&
	test_cmp expect actual &&
	test_grep "^GET /repo/refs/heads/main 302 Bearer s3cret$" "$seen" &&
	echo "GET /www/repo/refs/heads/main 200 -" >expect &&
	test_cmp expect seen2
'

test_expect_success 'a write goes where the user said, or nowhere' '
	behave "away x/red $other/www/repo/x/red" &&
	test_when_finished behave &&
	: >seen2 &&
	refused 6 "with a redirect to .*a write is never redirected" put x --if-none-match x/red &&
	test_expect_code 6 eval "echo x/red | fdl-rm-objects" &&
	test ! -s seen2 &&
	test_path_is_missing "$store/x/red"
'

test_expect_success 'a redirect that does not end, or leads nowhere, is an error' '
	behave "away refs/heads/main $url/repo/refs/heads/main" &&
	test_when_finished behave &&
	faults &&
	refused 6 "redirects without end" fdl-resolve-ref refs/heads/main &&
	count GET refs/heads/main 5 &&
	behave "away refs/heads/main file:///etc/passwd" &&
	refused 6 "redirects to .file:///etc/passwd.: fdl does not go there" fdl-resolve-ref refs/heads/main &&
	behave "away refs/heads/main http://" &&
	refused 6 "redirects to .http://.: that is no URL" fdl-resolve-ref refs/heads/main
'

test_expect_success 'reading outlives what passes' '
	for fault in drop-before drop-after 500 503 429 cut slow-down
	do
		faults "1 $fault GET refs/heads/main" &&
		fdl-resolve-ref refs/heads/main &&
		count GET refs/heads/main 2 || return 1
	done
'

test_expect_success 'a body that is cut off is never taken for the whole' '
	faults &&
	head -c 300000 /dev/urandom >file &&
	fdl-put-object x/file <file &&
	faults "1 cut GET x/file" "2 cut GET x/file" &&
	fdl-cat-object x/file >actual &&
	cmp file actual &&
	count GET x/file 3 &&
	faults "* cut GET x/file" &&
	test_expect_code 6 fdl-cat-object x/file >actual 2>err &&
	test_grep "cut off after [0-9]* of 300000 bytes" err &&
	faults "1 cut GET x/file" "2 412 GET x/file" &&
	test_expect_code 6 fdl-cat-object x/file >actual 2>err &&
	test_grep "it was replaced while it was read" err
'

test_expect_success 'without a tag the rest of an object is not asked for: nobody could tell whether it is the same' '
	behave no-tags &&
	test_when_finished behave &&
	faults "1 cut GET x/file" &&
	test_expect_code 6 fdl-cat-object x/file >actual 2>err &&
	test_grep "cut off after .*does not send the rest" err &&
	count GET x/file 1 &&
	refused 6 "gives .refs/heads/main. no ETag to change it by" fdl-update-ref $main "$two" "$one" &&
	holds $main "$one"
'

test_expect_success 'a cache on the way does not tell where a ref pointed once' '
	behave cache &&
	test_when_finished behave &&
	fdl-resolve-ref refs/heads/main >actual &&
	echo "$one" >expect &&
	test_cmp expect actual
'

test_expect_success 'a page for people is no answer' '
	behave page &&
	test_when_finished behave &&
	refused 128 "expired.json. is damaged" fdl-resolve-ref --live refs/heads/main &&
	refused 128 "is damaged" fdl-resolve-ref refs/heads/none
'

test_expect_success 'a host that stands still, or is busy for long, is given up' '
	faults "* hang GET fdl.json" &&
	FDL_STALL_TIMEOUT=1 refused 75 "nothing moved for too long" fdl-resolve-ref main &&
	faults "* never GET fdl.json" &&
	refused 75 "no answer about .fdl.json. in .*: it answers 503" fdl-resolve-ref main &&
	count GET fdl.json 1
'

test_expect_success 'a proxy of the environment is asked, and only for hosts that it is for' '
	faults &&
	refused 75 "fdl.json. in .http://towns.example/repo.: CONNECT proxy failed" \
		env http_proxy="$url" fdl-resolve-ref --repo http://towns.example/repo refs/heads/main &&
	http_proxy=http://127.0.0.1:1 no_proxy=127.0.0.1 fdl-resolve-ref refs/heads/main >actual
'

test_done
