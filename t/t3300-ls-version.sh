#!/bin/sh

test_description='the data files that versions name'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# file PATH SIZE KIND: a line of files.json.
file() {
	printf '\n{"path":"%s","size":%s,"kind":"%s"}' "$1" "$2" "$3"
}

# replace_files TEXT: gives version $one this files.json, and the digest of it in version.json.
replace_files() {
	printf '%s\n' "$1" >"repo/versions/$one/files.json" &&
	sed "s/\"files_sha256\": \".*\"/\"files_sha256\": \"$(sha256sum <"repo/versions/$one/files.json" | cut -d ' ' -f 1)\"/" \
		kept/version.json >"repo/versions/$one/version.json"
}

# damaged PATTERN TEXT: such a files.json is refused, when it is listed and when a version is written with it.
damaged() {
	replace_files "$2" &&
	refused 128 "^fatal: version $one: files.json $1" fdl-ls-version "$one" &&
	test_line_count 0 refused.out &&
	printf '%s\n' "$2" >files.json &&
	unchanged refused 128 "^fatal: files.json $1" write_parts -m x
}

test_expect_success 'two versions with data files' '
	fdl-create-repository repo &&
	make_parts one "$(file main/a.parquet 10 data),$(file main/b.parquet 20 data)" &&
	one=$(write_parts -m one) &&
	make_parts two "$(file main/b-delete.parquet 3 delete),$(file main/b.parquet 20 data),$(file "x y/é.parquet" 0 data)" &&
	two=$(write_parts -m two --parent "$one") &&
	empty=$(write_version empty) &&
	cp -R "repo/versions/$one" kept &&
	fdl-update-ref refs/heads/main "$two"
'

test_expect_success 'key, size and kind, in the order of the keys' '
	cat >expect <<-\END &&
	data/main/b-delete.parquet	3	delete
	data/main/b.parquet	20	data
	data/x y/é.parquet	0	data
	END
	fdl-ls-version main >out &&
	test_cmp expect out &&
	fdl-ls-version $empty >out &&
	test_line_count 0 out
'

test_expect_success 'several versions together name each file once' '
	cat >expect <<-\END &&
	data/main/a.parquet	10	data
	data/main/b-delete.parquet	3	delete
	data/main/b.parquet	20	data
	data/x y/é.parquet	0	data
	END
	fdl-ls-version main main~ main >out &&
	test_cmp expect out
'

test_expect_success '--not leaves out what other versions name' '
	printf "data/main/b-delete.parquet\t3\tdelete\ndata/x y/é.parquet\t0\tdata\n" >expect &&
	fdl-ls-version --not main~ main >out &&
	test_cmp expect out &&
	fdl-ls-version main --not "$one" --not $empty main >out &&
	test_cmp expect out &&
	fdl-ls-version --not main main >out &&
	test_line_count 0 out
'

test_expect_success '-z ends records with NUL' '
	fdl-ls-version -z --not main~ main >out &&
	printf "data/main/b-delete.parquet\t3\tdelete\0data/x y/é.parquet\t0\tdata\0" >expect &&
	cmp expect out
'

test_expect_success 'the output is input of fdl-check-objects' '
	fdl-ls-version main >list &&
	test_expect_code 1 fdl-check-objects <list >out &&
	test_line_count 3 out &&
	for pair in b-delete:3 b:20
	do
		head -c "${pair#*:}" /dev/zero | fdl-put-object "data/main/${pair%:*}.parquet" || return 1
	done &&
	fdl-put-object "data/x y/é.parquet" </dev/null &&
	fdl-check-objects <list
'

test_expect_success 'the data folder is the one that fdl.json names' '
	cp repo/fdl.json fdl.json &&
	sed "s,\"data_dir\": \"data\",\"data_dir\": \"lake/files\"," fdl.json >repo/fdl.json &&
	fdl-ls-version "$one" >out &&
	cp fdl.json repo/fdl.json &&
	printf "lake/files/main/a.parquet\t10\tdata\nlake/files/main/b.parquet\t20\tdata\n" >expect &&
	test_cmp expect out
'

test_expect_success 'a files.json that is not the one of version.json is not believed' '
	sed "s/10/11/" kept/files.json >"repo/versions/$one/files.json" &&
	refused 5 "^error: .versions/$one/files.json. has sha256 .* but its version.json says" fdl-ls-version "$one" &&
	test_line_count 0 refused.out &&
	refused 5 "has sha256" fdl-ls-version main "$one" &&
	refused 5 "has sha256" fdl-ls-version --not "$one" main &&
	test_line_count 0 refused.out &&
	: >"repo/versions/$one/files.json" &&
	refused 5 "has sha256" fdl-ls-version "$one"
'

test_expect_success 'a files.json that is not there is told' '
	rm "repo/versions/$one/files.json" &&
	refused 3 "^error: .versions/$one/files.json. is not in" fdl-ls-version "$one" &&
	refused 3 "files.json. is not in" fdl-ls-version --not "$one" main &&
	test_line_count 0 refused.out
'

test_expect_success 'a files.json that is none is refused' '
	for text in "" "{" "[]" "x" "{\"fdl\":\"1.0\",\"files\":[}" "{\"fdl\":\"1.0\",\"files\":{}}" "{\"fdl\":\"1.0\"}" \
		"{\"files\":[]}" "{\"fdl\":1,\"files\":[]}" "{\"fdl\":\"1.0\",\"files\":[]} {}"
	do
		damaged "is damaged: " "$text" || return 1
	done &&
	damaged "has format version .2.1.; this fdl knows version 1" "{\"fdl\":\"2.1\",\"files\":[]}"
'

test_expect_success 'a key that stands twice is refused, since two readers would read it in two ways' '
	damaged "is damaged: .*stands twice" "{\"fdl\":\"1.0\",\"files\":[],\"files\":[$(file a 1 data)]}" &&
	damaged "is damaged: .*stands twice" "{\"fdl\":\"1.0\",\"files\":[],\"fdl\":\"1.1\"}" &&
	damaged "is damaged: duplicate field" \
		"{\"fdl\":\"1.0\",\"files\":[{\"path\":\"a\",\"path\":\"b\",\"size\":1,\"kind\":\"data\"}]}"
'

test_expect_success 'files that are not sorted, or twice, are refused' '
	damaged "is damaged: .a. is out of order" "{\"fdl\":\"1.0\",\"files\":[$(file b 1 data),$(file a 1 data)]}" &&
	damaged "is damaged: .a. is out of order" "{\"fdl\":\"1.0\",\"files\":[$(file a 1 data),$(file a 1 data)]}"
'

test_expect_success 'a path that is no key is refused' '
	for path in "" /etc/passwd ../x a/../b a//b a/ "a%2e" "a?b" "a\\\\b" ".fdl-lock" "a\\u0000b" "a\\nb" s3:x
	do
		damaged "is damaged: bad key" "{\"fdl\":\"1.0\",\"files\":[$(file "$path" 1 data)]}" || return 1
	done
'

test_expect_success 'a size or a kind that is none is refused' '
	for size in -1 1.5 "\"1\"" null 18446744073709551616
	do
		damaged "is damaged: " "{\"fdl\":\"1.0\",\"files\":[$(file a "$size" data)]}" || return 1
	done &&
	damaged "is damaged: unknown variant" "{\"fdl\":\"1.0\",\"files\":[$(file a 1 index)]}" &&
	damaged "is damaged: missing field .size" "{\"fdl\":\"1.0\",\"files\":[{\"path\":\"a\",\"kind\":\"data\"}]}" &&
	damaged "is damaged: .x. is not a SHA-256 digest" \
		"{\"fdl\":\"1.0\",\"files\":[{\"path\":\"a\",\"size\":1,\"kind\":\"data\",\"sha256\":\"x\"}]}"
'

test_expect_success 'fields of a newer minor version are passed over' '
	replace_files "{\"fdl\":\"1.7\",\"new\":{\"a\":[]},\"files\":[{\"path\":\"a\",\"size\":1,\"kind\":\"data\",\"new\":[]}]}" &&
	fdl-ls-version "$one" >out &&
	printf "data/a\t1\tdata\n" >expect &&
	test_cmp expect out
'

test_expect_success 'names that stand for nothing' '
	refused 3 "version $nowhere is not in" fdl-ls-version main $nowhere &&
	refused 3 "neither a ref nor a version" fdl-ls-version --not none main &&
	test_expect_code 129 fdl-ls-version --not main &&
	test_expect_code 129 fdl-ls-version
'

test_done
