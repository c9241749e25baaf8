#!/bin/sh

test_description='what is no repository, damaged or of a newer format is told in one line, and left alone'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# with_config SED-SCRIPT: changes fdl.json.
with_config() {
	sed "$1" kept/fdl.json >repo/fdl.json
}

# truncated PATTERN: an fdl.json of which only the beginning is left is refused, whatever its length.
truncated() {
	size=$(wc -c <kept/fdl.json) &&
	for length in $(seq 0 7 $((size - 2))) $((size - 2))
	do
		head -c "$length" kept/fdl.json >repo/fdl.json &&
		all_refuse 128 "$1" one || return 1
	done
}

deep=$(printf '%0200d' 0 | tr 0 '[')

test_expect_success 'a repository, and a copy of it' '
	write_three &&
	fdl-update-ref refs/heads/main "$two" &&
	fdl-update-server-info &&
	cp -R repo kept &&
	cat >readers <<-END &&
	fdl-cat-object HEAD
	fdl-ls-objects
	fdl-check-objects
	fdl-resolve-ref HEAD
	fdl-for-each-ref
	fdl-symbolic-ref HEAD
	fdl-rev-list main
	fdl-cat-version main
	fdl-ls-version main
	fdl-ls-tables main
	fdl-attach-sql main
	fdl-repository-var id
	fdl-send-version --repo kept --from repo $one
	fdl-create-repository --like repo new
	END
	cat >writers <<-END &&
	fdl-put-object x
	fdl-rm-objects
	fdl-update-ref refs/heads/x $one
	fdl-update-ref -d refs/heads/main
	fdl-symbolic-ref HEAD refs/heads/x
	fdl-update-server-info
	write_parts -m x
	fdl-send-files
	fdl-send-version --from kept $one
	END
	cat readers writers >all &&
	echo fdl-repository-var id >one
'

test_expect_success 'a folder that is not there is no repository' '
	while read -r command
	do
		FDL_REPO=none refused 128 "^fatal: .none. is not a repository: it does not exist" $command </dev/null || return 1
	done <writers &&
	test_grep "^hint: .fdl init. makes one" refused.err &&
	test_path_is_missing none
'

test_expect_success 'a folder without fdl.json is no repository, nor is one with a folder of that name' '
	rm repo/fdl.json &&
	all_refuse 128 "^fatal: .repo. is not a repository: it has no fdl.json\|^fatal: .*/repo. is not a repo" all &&
	mkdir repo/fdl.json &&
	all_refuse 128 "is not a repository: it has no fdl.json" one &&
	rmdir repo/fdl.json
'

test_expect_success 'a file, an empty name and another kind of store are no repository' '
	: >file &&
	refused 128 "^fatal: .*/file. is not a folder" fdl-for-each-ref --repo file &&
	refused 128 "^fatal: the repository.s path is empty" fdl-for-each-ref --repo "" &&
	refused 128 "^fatal: .gopher://host/repo.: no store for .gopher://" fdl-for-each-ref --repo gopher://host/repo &&
	refused 128 "names a host" fdl-for-each-ref --repo file://host/repo &&
	FDL_REPO="" test_expect_code 129 fdl-for-each-ref 2>err &&
	test_grep "^fatal: no repository: give --repo URL or set FDL_REPO" err
'

test_expect_success 'a file:// URL is the same repository' '
	cp kept/fdl.json repo/ &&
	test "$(fdl-resolve-ref --repo "file://$PWD/repo" main)" = "$two"
'

test_expect_success 'an fdl.json that is a link or a pipe is not read' '
	rm repo/fdl.json &&
	ln -s ../kept/fdl.json repo/fdl.json &&
	all_refuse 6 "^error: .fdl.json. in .* is a symbolic link" all &&
	rm repo/fdl.json &&
	mkfifo repo/fdl.json &&
	all_refuse 6 "^error: .fdl.json. in .* is not a regular file" all &&
	rm repo/fdl.json
'

test_expect_success 'another major version is refused by name, with a hint' '
	with_config "s/1.0/2.0/" &&
	all_refuse 128 "^fatal: .fdl.json. of .* has format version .2.0.; this fdl knows version 1" all &&
	test_grep "^hint: a newer fdl may know it" refused.err &&
	for version in 0.9 10.0 "" 01.0 " 1.0" -1 one
	do
		with_config "s/1.0/$version/" &&
		all_refuse 128 "fdl.json. of .* has format version" one || return 1
	done
'

test_expect_success 'a minor version and fields that are not known are fine' '
	with_config "s/\"1.0\",/\"1.9\", \"new\": {\"a\": [1, null]},/" &&
	test "$(fdl-resolve-ref main)" = "$two" &&
	fdl-update-ref refs/heads/x "$two" &&
	fdl-update-ref -d refs/heads/x
'

test_expect_success 'with a feature that is not known all is read, and nothing written' '
	with_config "s/\[\]/[\"shards\"]/" &&
	all_refuse 128 "^fatal: .*/repo/. needs the feature .shards., which this fdl does not know" writers &&
	grep -v "new\|send-version\|tables\|check" readers >lines &&
	while read -r command
	do
		unchanged $command >out </dev/null || return 1
	done <lines
'

test_expect_success 'an fdl.json that is damaged is told' '
	truncated "^fatal: .fdl.json. of .* is damaged: " &&
	echo "{" >repo/fdl.json &&
	all_refuse 128 "^fatal: .fdl.json. of .* is damaged: " all &&
	for text in "[]" null 1 "{}" "$deep" "{\"fdl\":1}" "$(printf "\357\273\277")$(cat kept/fdl.json)" "$(printf "\377")" \
		"$(cat kept/fdl.json)x" "$(cat kept/fdl.json kept/fdl.json)" "{\"fdl\":\"1.0\"}"
	do
		printf "%s\n" "$text" >repo/fdl.json &&
		all_refuse 128 "^fatal: .fdl.json. of .* is damaged: " one || return 1
	done
'

test_expect_success 'fields of fdl.json that are none are told' '
	for change in "/\"id\"/d" "s/\"id\": \"/&x/" "s/\"id\": .*/\"id\": 7,/" "/data_dir/d" "s/\"data\"/\"..\"/" \
		"s/\"data\"/\"\/etc\"/" "s/\"data\"/\"\"/" "s/\"data\"/\"a%b\"/" "s/\[\]/{}/" "s/\[\]/[1]/"
	do
		with_config "$change" &&
		all_refuse 128 "^fatal: .fdl.json. of .* is damaged: " one || return 1
	done
'

test_expect_success 'a key that stands twice is refused' '
	with_config "s/\"data_dir\": \"data\",/&&/" &&
	all_refuse 128 "is damaged: .data_dir. stands twice in one object" all
'

test_expect_success 'an fdl.json that is too large is not read' '
	with_config "" &&
	truncate -s 1048577 repo/fdl.json &&
	all_refuse 128 "^fatal: .fdl.json. in .* is larger than 1048576 bytes" all &&
	with_config ""
'

test_done
