#!/bin/sh

test_description='objects are the same in a folder and in a bucket'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

# put KEY CONTENT OPTION...
put() {
	object=$1
	printf '%s' "$2" >content
	shift 2
	fdl-put-object "$@" "$object" <content
}

# holds KEY CONTENT
holds() {
	printf '%s' "$2" >content &&
	fdl-cat-object "$1" >actual &&
	cmp content actual
}

# tag_of KEY: its tag, as the store spells it.
tag_of() {
	fdl-ls-objects "${1%/*}" | grep "^$1	" | cut -f 4
}

test_expect_success 'a repository is made once' '
	both eval "fdl-create-repository \"\$FDL_REPO\"" &&
	both eval "refused 1 \"is a repository already; nothing was changed\" fdl-create-repository \"\$FDL_REPO\"" &&
	both holds HEAD "ref: refs/heads/main$newline"
'

test_expect_success 'a place without an fdl.json is no repository' '
	refused 128 "^fatal: .s3://lakes/none. is not a repository: it has no fdl.json" fdl-ls-objects --repo s3://lakes/none
'

test_expect_success 'an object is written, read and replaced' '
	both put a/b/c one &&
	both holds a/b/c one &&
	both put a/b/c "and two" &&
	both holds a/b/c "and two"
'

test_expect_success 'an object may be empty, large, and hold any bytes' '
	both put a/empty "" &&
	both holds a/empty "" &&
	head -c 3000000 /dev/urandom >large &&
	both eval "fdl-put-object a/large <large && fdl-cat-object a/large >actual && cmp large actual"
'

test_expect_success 'an object that is not there is told' '
	both refused 3 "^error: .a/none. is not in " fdl-cat-object a/none &&
	both refused 3 ".a/b. is not in " fdl-cat-object a/b
'

test_expect_success '--if-none-match writes only where there is nothing' '
	both put a/new one --if-none-match &&
	both holds a/new one &&
	both refused 2 "^error: .a/new. does not match the condition; nothing was written" put a/new one --if-none-match &&
	both refused 2 "does not match" put a/new two --if-none-match &&
	both holds a/new one
'

test_expect_success '--if-match writes only over the content with that tag' '
	export FDL_REPO=s3://lakes/repo &&
	tag=$(tag_of a/new) &&
	put a/new two --if-match "$tag" &&
	holds a/new two &&
	for other in "$tag" "$(tag_of a/b/c)" "\"0\""
	do
		refused 2 "does not match" put a/new three --if-match "$other" || return 1
	done &&
	refused 2 "does not match" put a/none three --if-match "$tag" &&
	refused 3 "is not in" fdl-cat-object a/none &&
	holds a/new two
'

test_expect_success 'a tag that no header can hold is bad input' '
	export FDL_REPO=s3://lakes/repo &&
	refused 128 "is no ETag" put a/new three --if-match "a${newline}b" &&
	holds a/new two
'

test_expect_success 'keys come and go unchanged' '
	for key in "a b/c d" x=1/y=2+3 .hidden/..a/...b -rf --help Tõrva/北京/Αθήνα/москва/ß _ 0 a..
	do
		both put "keys/$key" "$key" &&
		both holds "keys/$key" "$key" || return 1
	done &&
	both eval "fdl-ls-objects -z keys | tr \"\\0\" \"\\n\" | cut -f 1 >list.\${FDL_REPO##*/}.\${#FDL_REPO}" &&
	test_line_count 9 list.repo.15 &&
	test_cmp list.repo.15 list.repo.$((${#TRASH_DIRECTORY} + 5))
'

test_expect_success 'no key leads out of the prefix' '
	for key in ../x a/../../x ./x /x a//x "a%2e%2e/x"
	do
		refused 128 "^fatal: bad key" put "$key" x || return 1
	done &&
	for url in s3://lakes/../x s3://lakes/a/../../x "s3://lakes/%2e%2e/x" "s3://lakes/a?x" s3://user@lakes/x s3:// s3://x
	do
		refused 128 "^fatal: .s3://" fdl-ls-objects --repo "$url" || return 1
	done
'

sizes() {
	fdl-ls-objects "$@" | cut -f 1,2
}

test_expect_success 'a list holds what lies below the folder and nothing beside it, in the order of keys' '
	for key in below/a below/a-b/c below/a/b/c below/z below.txt below-/x
	do
		(FDL_REPO=s3://lakes/repo && put "$key" "$key") || return 1
	done &&
	printf "%s\t%s\n" below/a 7 below/a-b/c 11 below/a/b/c 11 below/z 7 >expect &&
	FDL_REPO=s3://lakes/repo sizes below >actual &&
	test_cmp expect actual &&
	FDL_REPO=s3://lakes/repo sizes below/a/ >actual &&
	printf "below/a/b/c\t11\n" >expect &&
	test_cmp expect actual &&
	both eval "sizes none >actual" &&
	test_line_count 0 actual
'

test_expect_success 'what stands in the bucket and is no object of ours is left out, and said' '
	s3 PUT /lakes/repo/foreign/a%25b &&
	s3 PUT /lakes/repo/foreign/folder/ &&
	s3 PUT /lakes/repo/foreign/ok &&
	FDL_REPO=s3://lakes/repo fdl-ls-objects foreign >out 2>err &&
	test_line_count 1 out &&
	test_line_count 2 err &&
	test_grep "^warning: .foreign/a%b. is no object and was left out" err &&
	test_grep "^warning: .foreign/folder/. is no object" err
'

test_expect_success 'objects are deleted, one and many; what is not there is gone as well' '
	seq -f "many/%04g" 2100 >keys &&
	both put many/0001 x &&
	both put many/2100 x &&
	both put stays x &&
	both eval "fdl-rm-objects <keys >gone && sort gone | cmp keys" &&
	both eval "sizes many >left && test_line_count 0 left" &&
	both holds stays x
'

test_expect_success 'the bucket itself may be the repository' '
	s3 PUT /whole &&
	fdl-create-repository s3://whole &&
	FDL_REPO=s3://whole put a/b one &&
	FDL_REPO=s3://whole/ holds a/b one &&
	FDL_REPO=s3://whole sizes >actual &&
	printf "HEAD a/b fdl.json" | tr " " "\n" >expect &&
	cut -f 1 actual | tr "\n" " " | sed "s/ $//" | tr " " "\n" >names &&
	test_cmp expect names
'

# header NAME PATH
header() {
	s3 HEAD "$2" | sed -n "s/^$1: //p"
}

test_expect_success 'an object says what it is and how long it may be kept' '
	FDL_REPO=s3://lakes/repo put data/a.parquet x &&
	FDL_REPO=s3://lakes/repo put versions/1/version.json x &&
	FDL_REPO=s3://lakes/repo put versions/1/expired.json x &&
	test "$(header cache-control /lakes/repo/HEAD)" = no-store &&
	test "$(header content-type /lakes/repo/HEAD)" = "text/plain; charset=utf-8" &&
	test "$(header content-type /lakes/repo/data/a.parquet)" = application/vnd.apache.parquet &&
	test "$(header cache-control /lakes/repo/data/a.parquet)" = "public, max-age=31536000, immutable" &&
	test "$(header cache-control /lakes/repo/versions/1/version.json)" = "public, max-age=31536000, immutable" &&
	test "$(header cache-control /lakes/repo/versions/1/expired.json)" = no-cache &&
	test "$(header content-type /lakes/repo/fdl.json)" = application/json
'

test_done
