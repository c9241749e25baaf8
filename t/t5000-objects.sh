#!/bin/sh

test_description='objects are written, read, listed, checked and deleted by key'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

tab=$(printf '\t')

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

tag_of() {
	printf '"%s"' "$(sha256sum <"repo/$1" | cut -d ' ' -f 1)"
}

# repeat TEXT N
repeat() {
	printf "%$2s" '' | sed "s, ,$1,g"
}

test_expect_success 'an object is written, read and replaced' '
	fdl-create-repository repo &&
	put a/b/c one &&
	holds a/b/c one &&
	put a/b/c "and two" &&
	holds a/b/c "and two" &&
	test "$(cat repo/a/b/c)" = "and two"
'

test_expect_success 'an object may be empty, large, and hold any bytes' '
	put a/empty "" &&
	holds a/empty "" &&
	head -c 3000000 /dev/urandom >large &&
	fdl-put-object a/large <large &&
	fdl-cat-object a/large >actual &&
	cmp large actual
'

test_expect_success 'an object that is not there is told' '
	refused 3 "^error: .a/none. is not in " fdl-cat-object a/none &&
	refused 3 ".none/none. is not in " fdl-cat-object none/none &&
	refused 3 ".a/empty/below. is not in " fdl-cat-object a/empty/below
'

test_expect_success 'a folder is no object' '
	refused 3 ".a/b. is not in " fdl-cat-object a/b &&
	unchanged refused 6 "cannot write .a/b. .*: Is a directory" put a/b x &&
	unchanged refused 6 "cannot write .a/b. .*: Is a directory" put a/b x --if-none-match
'

test_expect_success 'nothing lies below an object' '
	unchanged refused 6 "cannot reach .a/empty/below. .*: Not a directory" put a/empty/below x
'

test_expect_success '--if-none-match writes only where there is nothing' '
	put a/new one --if-none-match &&
	holds a/new one &&
	unchanged refused 2 "^error: .a/new. does not match the condition; nothing was written" put a/new one --if-none-match &&
	unchanged refused 2 "does not match" put a/new two --if-none-match
'

test_expect_success '--if-match writes only over the content with that tag' '
	put a/new two --if-match "$(tag_of a/new)" &&
	holds a/new two &&
	for tag in "$(tag_of a/b/c)" "" "*" two "$(tag_of a/new | tr -d \")" "W/$(tag_of a/new)"
	do
		unchanged refused 2 "does not match" put a/new three --if-match "$tag" || return 1
	done &&
	unchanged refused 2 "does not match" put a/none three --if-match "$(tag_of a/new)"
'

test_expect_success 'letters of any script, digits, space and . _ = + - may stand in a key' '
	for key in "a b/c d" x=1/y=2+3 .hidden/..a/...b -rf --help Tõrva/北京/Αθήνα/москва/ß _ 0 a..
	do
		put "keys/$key" "$key" &&
		holds "keys/$key" "$key" || return 1
	done &&
	put -rf x -- &&
	test "$(cat repo/-rf)" = x
'

test_expect_success 'everything else is no key' '
	for key in "a${tab}b" "a${newline}b" "a%b" "a?b" "a#b" "a\\b" "a\"b" "a'\''b" "a:b" "a*b" "a|b" "a<b" "a~b" "a&b" "a;b" \
		"a,b" "a@b" "a(b" "a[b" "a{b" "a!b" "a\$b" "a^b" "a\`b" "$(printf "a\177b")" "$(printf "a\302\240b")" \
		"$(printf "e\314\201")" "$(printf "a\342\200\256b")" "😀"
	do
		unchanged refused 128 "^fatal: bad key .*: it holds " put "keys/$key" x &&
		refused 128 "^fatal: bad key .*: it holds " fdl-cat-object "keys/$key" || return 1
	done
'

test_expect_success 'no segment is empty, "." or "..", so no key leads anywhere else' '
	for key in / /a a/ a//b /etc/passwd "$PWD/repo/a"
	do
		refused 128 "^fatal: bad key .*: it has an empty segment" put "$key" x || return 1
	done &&
	for key in . .. ../a a/.. a/../b ./a a/./b a/b/../../../c
	do
		refused 128 "^fatal: bad key .*: it has a segment .\.*.$" put "$key" x || return 1
	done &&
	refused 128 "^fatal: bad key .*: it is empty" put "" x
'

test_expect_success 'a segment has up to 200 bytes, a key up to 1024' '
	longest=$(repeat x 200)/$(repeat y 200)/$(repeat é 100)/$(repeat z 200)/$(repeat w 200)/$(repeat v 19) &&
	test ${#longest} = 1024 &&
	put "$longest" x &&
	holds "$longest" x &&
	refused 128 "^fatal: bad key .*: it is longer than 1024 bytes" put "${longest}v" x &&
	refused 128 "^fatal: bad key .*: it has a segment longer than 200 bytes" put "a/$(repeat x 201)" x &&
	refused 128 "it is longer than 1024 bytes" put "$(repeat x/ 10000)x" x
'

test_expect_success 'what the folder store keeps for itself is no key' '
	for key in .fdl-lock .fdl-tmp-1 a/.fdl-x .fdl-/a
	do
		refused 128 "a segment begins with .\.fdl-., which is reserved" put $key x || return 1
	done &&
	put .fdl x &&
	holds .fdl x
'

test_expect_success 'a key that is not UTF-8 is wrong usage' '
	test_expect_code 129 put "$(printf "a\377")" x 2>err &&
	test_grep "^fatal: .* is not valid UTF-8" err
'

test_expect_success 'keys that differ in case are two' '
	put case/A upper &&
	put case/a lower &&
	holds case/A upper &&
	holds case/a lower
'

test_expect_success 'one KEY is wanted, and options that are known' '
	test_expect_code 129 fdl-cat-object &&
	test_expect_code 129 fdl-cat-object a/new a/b/c &&
	test_expect_code 129 fdl-put-object </dev/null &&
	test_expect_code 129 fdl-put-object --if-match </dev/null &&
	test_expect_code 129 fdl-put-object --force a/new </dev/null
'

test_expect_success 'an object that shrinks while it is read is an error, never a short output' '
	mkfifo fifo &&
	{ fdl-cat-object a/large >fifo 2>err & } &&
	exec 3<fifo &&
	head -c 1 <&3 >/dev/null &&
	truncate -s 2000 repo/a/large &&
	cat <&3 >/dev/null &&
	exec 3<&- &&
	test_expect_code 6 wait $! &&
	test_grep "^error: cannot read .a/large.: the file changed while it was read" err
'

test_expect_success 'a disk that is full is told: the one of the output, and the one of temporary files' '
	refused 6 "^error: cannot write to standard output: No space left on device" eval "fdl-cat-object a/b/c >/dev/full" &&
	full() { (trap "" XFSZ && ulimit -f 1 && fdl-put-object a/full <large) } &&
	unchanged refused 6 "^error: cannot read standard input: no room in a temporary file .see TMPDIR.: File too large" full
'

test_done
