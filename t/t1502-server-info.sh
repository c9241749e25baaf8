#!/bin/sh

test_description='refs.json says what the refs say'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

test_expect_success 'a repository without refs has a refs.json without refs' '
	write_three &&
	fdl-update-server-info &&
	cat >expect <<-\END &&
	{
	  "fdl": "1.0",
	  "head": "refs/heads/main",
	  "refs": {}
	}
	END
	test_cmp expect repo/refs.json
'

test_expect_success 'it names HEAD, each branch and each tag, but nothing of a remote' '
	fdl-update-ref refs/heads/main "$three" &&
	fdl-update-ref refs/heads/a/b "$two" &&
	fdl-update-ref refs/tags/v1 "$one" &&
	fdl-update-ref refs/remotes/origin/main "$one" &&
	fdl-symbolic-ref HEAD refs/heads/a/b &&
	fdl-update-server-info &&
	cat >expect <<-END &&
	{
	  "fdl": "1.0",
	  "head": "refs/heads/a/b",
	  "refs": {
	    "refs/heads/a/b": "$two",
	    "refs/heads/main": "$three",
	    "refs/tags/v1": "$one"
	  }
	}
	END
	test_cmp expect repo/refs.json
'

test_expect_success 'it is not written when nothing changed' '
	FDL_TRACE="$PWD/trace" fdl-update-server-info &&
	test_grep "^GET refs.json	ok" trace &&
	! grep -E "^(PUT|DELETE)" trace &&
	test_cmp expect repo/refs.json
'

test_expect_success 'its tag is read before the refs are, and it is written on condition of that tag' '
	tag=$(sha256sum <repo/refs.json | cut -d " " -f 1) &&
	fdl-update-ref -d refs/heads/a/b &&
	rm trace &&
	FDL_TRACE="$PWD/trace" fdl-update-server-info &&
	grep -n "^GET refs.json	" trace >read &&
	grep -n "^LIST refs/	" trace >list &&
	test "$(cut -d : -f 1 read)" -lt "$(cut -d : -f 1 list)" &&
	tail -n 1 trace >last &&
	test_grep "^PUT refs.json	ok	.*	If-Match: \"$tag\"$" last
'

test_expect_success 'a deleted ref is not in it any more' '
	test_grep refs/heads/main repo/refs.json &&
	test "$(grep -c a/b repo/refs.json)" = 1 &&
	test_grep "\"head\": \"refs/heads/a/b\"" repo/refs.json
'

test_expect_success 'a refs.json that is damaged, or another program wrote, is made new' '
	cp repo/refs.json expect &&
	for content in "" "{" "{\"fdl\":\"9.0\"}" "$(cat expect)" "$(printf "\377")"
	do
		printf "%s" "$content" >repo/refs.json &&
		fdl-update-server-info &&
		test_cmp expect repo/refs.json || return 1
	done
'

test_expect_success 'one beyond all size is not read, and told' '
	truncate -s 16777217 repo/refs.json &&
	unchanged refused 128 "refs.json.* is larger than 16777216 bytes" fdl-update-server-info &&
	echo refs.json | fdl-rm-objects >out &&
	fdl-update-server-info &&
	test_cmp expect repo/refs.json
'

test_expect_success 'a foreign file among the refs is not in it' '
	: >repo/refs/heads/main.lock &&
	: >"repo/refs/heads/a copy" &&
	ln -s main repo/refs/heads/link &&
	mkdir repo/refs/heads/empty &&
	cp repo/refs/heads/main repo/refs/x &&
	unchanged fdl-update-server-info
'

test_expect_success 'a ref or a HEAD that is damaged leaves refs.json as it was' '
	echo nonsense >repo/refs/heads/b &&
	unchanged refused 128 "refs/heads/b. is damaged" fdl-update-server-info &&
	rm repo/refs/heads/b &&
	echo nonsense >repo/HEAD &&
	unchanged refused 128 "HEAD. is damaged" fdl-update-server-info
'

test_expect_success 'a ref is named in full; where they can be listed, it changes nothing' '
	refused 128 "bad ref name .repo." fdl-update-server-info repo &&
	test_expect_code 129 fdl-update-server-info --all &&
	write_version more >more &&
	echo "ref: refs/heads/a/b" >repo/HEAD &&
	fdl-update-server-info &&
	cp repo/refs.json expect &&
	fdl-update-server-info refs/heads/none &&
	test_cmp expect repo/refs.json
'

test_done
