#!/bin/sh

test_description='objects are listed, checked and deleted, many at once'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

put() {
	printf '%s' "$2" | fdl-put-object "$1"
}

keys() {
	fdl-ls-objects "$@" | cut -f 1
}

test_expect_success 'objects are listed in the order of their bytes, as an object store lists them' '
	fdl-create-repository repo &&
	for key in a a.b a/b a-b a/b.c B 0 é z/y/x "a b"
	do
		put "k/$key/o" x || return 1
	done &&
	keys k >actual &&
	printf "k/%s/o\n" 0 B a "a b" a-b a.b a/b a/b.c z/y/x é | sort >expect &&
	test_cmp expect actual
'

test_expect_success 'key, size, time and tag' '
	put one "12345" &&
	touch -d 2026-12-01T12:34:56Z repo/one &&
	fdl-ls-objects >out &&
	printf "one\t5\t2026-12-01T12:34:56Z\t-\n" >expect &&
	grep "^one	" out >actual &&
	test_cmp expect actual &&
	fdl-ls-objects -z >out &&
	printf "one\t5\t2026-12-01T12:34:56Z\t-" >expect &&
	tr "\0" "\n" <out | grep "^one	" | tr -d "\n" >actual &&
	test_cmp expect actual
'

test_expect_success 'a FOLDER is listed with all below it, with or without a slash' '
	keys k/z >actual &&
	echo k/z/y/x/o >expect &&
	test_cmp expect actual &&
	keys k/z/ >actual &&
	test_cmp expect actual
'

test_expect_success 'a FOLDER that is not there, empty or an object has nothing to list' '
	mkdir repo/empty &&
	for folder in none none/none empty one k/z/y/x/o k/z/y/x/o/p k/z/y/x/
	do
		keys $folder >actual || return 1
	done &&
	echo k/z/y/x/o >expect &&
	test_cmp expect actual &&
	for folder in none none/none empty one k/z/y/x/o/p
	do
		test -z "$(fdl-ls-objects $folder)" || return 1
	done &&
	refused 128 "bad key" fdl-ls-objects .. &&
	refused 128 "bad key" fdl-ls-objects / &&
	refused 128 "bad key" fdl-ls-objects "" &&
	test_expect_code 129 fdl-ls-objects k one
'

test_expect_success 'what is no object is left out with a warning, and cannot drive the terminal' '
	mkdir "repo/foreign" &&
	mkfifo repo/foreign/fifo &&
	ln -s ../one repo/foreign/link &&
	ln -s .. repo/foreign/folder &&
	: >"repo/foreign/a%b" &&
	: >"repo/foreign/$(printf "\033[2J")" &&
	: >"repo/foreign/$(printf "x\377")" &&
	: >repo/foreign/.fdl-tmp-1 &&
	put foreign/own x &&
	fdl-ls-objects foreign >out 2>err &&
	test "$(cut -f 1 out)" = foreign/own &&
	test_line_count 6 err &&
	test "$(grep -c "^warning: .foreign/.* is no object and was left out$" err)" = 6 &&
	test_must_fail grep "$(printf "\033")" err
'

test_expect_success 'a link is followed by no command' '
	refused 6 "^error: .foreign/link. in .* is a symbolic link; fdl follows none" fdl-cat-object foreign/link &&
	refused 6 "^error: .folder., on the way to .foreign/folder/one. in .*, is a symbolic link" \
		fdl-cat-object foreign/folder/one &&
	refused 6 ".folder., on the way to .foreign/folder/new" put foreign/folder/new x &&
	refused 6 "symbolic link" fdl-ls-objects foreign/folder &&
	echo foreign/folder/one | test_expect_code 6 fdl-rm-objects 2>err &&
	test_grep "^warning: .folder., on the way to" err &&
	printf "foreign/link\t5\n" | refused 6 "symbolic link" fdl-check-objects &&
	test "$(cat repo/one)" = 12345
'

test_expect_success 'a link that leads out is followed by no command either' '
	mkdir outside &&
	echo secret >outside/file &&
	ln -s "$PWD/outside" repo/foreign/out &&
	ln -s "$PWD/outside/file" repo/foreign/file &&
	refused 6 "symbolic link" fdl-cat-object foreign/out/file &&
	refused 6 "symbolic link" fdl-cat-object foreign/file &&
	refused 6 "symbolic link" put foreign/out/file x &&
	put foreign/file x &&
	echo foreign/file | fdl-rm-objects >out &&
	test "$(ls outside)" = file &&
	test "$(cat outside/file)" = secret
'

test_expect_success 'the repository itself may be reached through a link' '
	ln -s repo link &&
	test "$(fdl-cat-object --repo link one)" = 12345
'

test_expect_success 'a pipe is not waited for' '
	refused 6 "^error: .foreign/fifo. in .* is not a regular file" fdl-cat-object foreign/fifo &&
	printf "foreign/fifo\t0\n" | refused 6 "is not a regular file" fdl-check-objects
'

test_expect_success 'objects that are as they should be are passed over in silence' '
	printf "one\t5\nk/a/o\t1\tdata\tand more\n" | fdl-check-objects >out &&
	test_line_count 0 out &&
	fdl-check-objects </dev/null &&
	printf "one\t5\0k/a/o\t1\0" | fdl-check-objects -z --settle --jobs 1
'

test_expect_success 'objects that are missing or of another size are named' '
	printf "one\t4\nnone\t1\nk/a\t0\nk/a/o\t1\n" >list &&
	test_expect_code 1 fdl-check-objects <list >out 2>err &&
	sort out >actual &&
	printf "k/a\tmissing\nnone\tmissing\none\t5 bytes instead of 4\n" >expect &&
	test_cmp expect actual &&
	test_line_count 0 err &&
	test_expect_code 1 fdl-check-objects --settle <list >out
'

test_expect_success 'a list that is none is refused' '
	for record in one "" "one 5" "one	x" "one	-1" "one	" "../one	5"
	do
		echo "$record" >list &&
		refused 128 "^fatal: " fdl-check-objects <list || return 1
	done &&
	printf "one\t5\n\377\t1\n" | refused 128 "record 2 of standard input is not valid UTF-8" fdl-check-objects &&
	head -c 1048577 /dev/zero | tr "\0" x | refused 128 "record 1 of standard input is too long" fdl-check-objects &&
	test_expect_code 129 fdl-check-objects --jobs x </dev/null
'

test_expect_success 'objects are deleted, and their empty folders; what is not there is no failure' '
	printf "k/z/y/x/o\nk/none\nk/a b/o\n" | fdl-rm-objects >out &&
	sort out >actual &&
	printf "k/a b/o\nk/none\nk/z/y/x/o\n" >expect &&
	test_cmp expect actual &&
	test_path_is_missing repo/k/z/y &&
	test_path_is_missing "repo/k/a b/o" &&
	test_path_is_file repo/k/a/o &&
	fdl-rm-objects </dev/null
'

test_expect_success 'a list that was cut off deletes nothing' '
	put k/an/o x &&
	printf "one\nk/an/o/and more" | head -c 10 >list &&
	unchanged refused 128 "^fatal: record 2 of standard input was cut off" fdl-rm-objects <list &&
	printf "one\0k/an/o\n" >list &&
	unchanged refused 128 "^fatal: record 2 of standard input was cut off" fdl-rm-objects -z <list
'

test_expect_success '--dry-run deletes nothing' '
	echo one >expect &&
	unchanged fdl-rm-objects --dry-run <expect >out &&
	grep one out >actual &&
	test_cmp expect actual
'

test_expect_success 'all keys are checked before the first object goes' '
	printf "one\n../one\n" >list &&
	unchanged refused 128 "bad key" fdl-rm-objects <list &&
	printf "one\n\n" >list &&
	unchanged refused 128 "bad key" fdl-rm-objects <list
'

test_expect_success 'a folder is not deleted' '
	echo k/a | unchanged fdl-rm-objects &&
	test_path_is_file repo/k/a/o
'

test_expect_success '-z reads and prints records that end with NUL' '
	printf "one\0k/a/o\0" | fdl-rm-objects -z --jobs 1 >out &&
	printf "one\0k/a/o\0" >expect &&
	cmp expect out &&
	test_path_is_missing repo/one
'

test_expect_success 'two hundred objects are deleted at once' '
	mkdir -p repo/many &&
	seq 200 | sed "s,^,many/f," >list &&
	while read -r key
	do
		echo x >"repo/$key" || return 1
	done <list &&
	fdl-rm-objects --jobs 32 <list >out &&
	sort list >expect &&
	sort out >actual &&
	test_cmp expect actual &&
	test -z "$(fdl-ls-objects many)"
'

test_done
