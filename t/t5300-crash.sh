#!/bin/sh

test_description='a command that is killed after any change leaves a whole store, and is run again'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# crashes CHECK COMMAND...: kills the command after its first change to a store, then, from the same start, after its
# second, until it gets to its end. After each kill CHECK is run, then the command again, and CHECK with 'whole'.
# The start is the folder 'start', which stands as 'world' for the command. Sets $kills.
crashes() {
	check=$1
	shift
	kills=0
	while test "$kills" -lt 100
	do
		rm -rf world && cp -R start world || return 1
		echo $((kills + 1)) >countdown
		FDL_TEST_KILL_AFTER=$PWD/countdown setsid -w "$@" >out 2>err
		status=$?
		test "$status" != 0 || break
		test "$status" = 137 || {
			echo "kill $kills: exit status $status: $*"
			cat err
			return 1
		}
		kills=$((kills + 1))
		"$check" || {
			echo "not whole after change $kills: $*"
			return 1
		}
		{ "$@" >out 2>err && "$check" whole; } || {
			echo "not to be run again after change $kills: $*"
			cat err
			return 1
		}
	done
	test "$status" = 0 && test "$(cat countdown)" -gt 0 && "$check" whole
}

# parts_are_whole ID: version.json is there, and so is all that it points at.
parts_are_whole() {
	for part in ducklake.duckdb dataset.json files.json
	do
		test_path_is_file "world/repo/versions/$1/$part" || return 1
	done
	fdl-ls-version "$1" >files &&
	test "$(fdl-cat-version --format json "$1" | sed 's/.*"sha256":"\([0-9a-f]*\)".*/\1/')" = \
		"$(sha256sum <"world/repo/versions/$1/ducklake.duckdb" | cut -d ' ' -f 1)"
}

# versions_are_whole: every version.json that is there is.
versions_are_whole() {
	for file in world/repo/versions/*/version.json
	do
		test -f "$file" || continue
		id=${file%/version.json}
		parts_are_whole "${id##*/}" || return 1
	done
}

# lists_nothing_half: what a killed write left is listed as no object.
lists_nothing_half() {
	fdl-ls-objects >objects 2>err &&
	test_line_count 0 err &&
	! grep -e 'fdl-' -e 'tmp-' objects
}

FDL_REPO=$TRASH_DIRECTORY/world/repo

test_expect_success 'a world to start from' '
	fdl-create-repository start/repo &&
	FDL_REPO=start/repo &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	fdl-update-ref refs/heads/main "$one" &&
	echo old | fdl-put-object a/object &&
	fdl-update-server-info &&
	FDL_REPO=$TRASH_DIRECTORY/world/repo
'

# one_of NEW OLD WHOLE: $found is the new content, or the old one unless the command got to its end.
one_of() {
	lists_nothing_half &&
	{ test "$found" = "$1" || { test -z "$3" && test "$found" = "$2"; }; }
}

whole_object() {
	found=$(fdl-cat-object a/object) && one_of new old "${1-}"
}

test_expect_success 'fdl-put-object: the old object or the new one' '
	echo "echo new | fdl-put-object a/object" >put.sh &&
	crashes whole_object sh put.sh &&
	test $kills = 2
'

new_object() {
	found=$(fdl-cat-object b/c/object 2>err) || test $? = 3 || return
	one_of new "" "${1-}"
}

test_expect_success 'fdl-put-object --if-none-match: no object or the whole one' '
	echo "echo new | fdl-put-object --if-none-match b/c/object || test \$? = 2" >put.sh &&
	crashes new_object sh put.sh &&
	test $kills = 2
'

no_object() {
	found=$(fdl-cat-object a/object 2>err) || test $? = 3 || return
	one_of "" old "${1-}"
}

test_expect_success 'fdl-rm-objects: the object or none' '
	echo "echo a/object | fdl-rm-objects" >rm.sh &&
	crashes no_object sh rm.sh &&
	test $kills = 1
'

whole_ref() {
	found=$(fdl-resolve-ref --live refs/heads/main) && one_of "$two" "$one" "${1-}"
}

test_expect_success 'fdl-update-ref: the old version or the new one' '
	crashes whole_ref fdl-update-ref refs/heads/main "$two" "$one" &&
	test $kills = 2
'

new_ref() {
	found=$(fdl-for-each-ref refs/tags) && one_of "$one	refs/tags/v/1" "" "${1-}"
}

test_expect_success 'fdl-update-ref: no ref or the new one' '
	crashes new_ref fdl-update-ref refs/tags/v/1 "$one" "" &&
	test $kills = 2
'

no_ref() {
	found=$(fdl-for-each-ref) && one_of "" "$one	refs/heads/main" "${1-}"
}

test_expect_success 'fdl-update-ref -d: the ref or none' '
	echo "fdl-update-ref -d refs/heads/main $one || test \$? = 3" >delete.sh &&
	crashes no_ref sh delete.sh &&
	test $kills = 1
'

whole_info() {
	grep -x "  \"head\": \"refs/heads/main\"," world/repo/refs.json >found &&
	tail -n 1 world/repo/refs.json | grep -x "}" >found &&
	{ test -z "${1-}" || grep "refs/tags/v1" world/repo/refs.json; }
}

test_expect_success 'fdl-update-server-info: the old refs.json or the new one' '
	cp -R start kept &&
	test_when_finished "rm -rf start && mv kept start" &&
	fdl-update-ref --repo start/repo refs/tags/v1 "$one" &&
	crashes whole_info fdl-update-server-info &&
	test $kills = 2
'

whole_version() {
	versions_are_whole &&
	lists_nothing_half &&
	{ test -z "${1-}" || parts_are_whole "$(cat out)"; }
}

test_expect_success 'fdl-write-version: no version or a whole one' '
	make_parts three &&
	crashes whole_version fdl-write-version --author "$FDL_AUTHOR" -m three --parent "$two" \
		--catalog catalog --files files.json --dataset dataset.json &&
	test $kills = 8
'

whole_repository() {
	if fdl-repository-var --repo world/new id >found 2>err
	then
		test "$(fdl-symbolic-ref --repo world/new HEAD)" = refs/heads/trunk
	else
		test -z "${1-}" && grep "is not a repository" err
	fi
}

test_expect_success 'fdl-create-repository: no repository or a whole one' '
	echo "fdl-create-repository --branch trunk world/new || test \$? = 1" >create.sh &&
	crashes whole_repository sh create.sh &&
	test $kills = 4
'

sent_version() {
	if fdl-cat-version --repo world/repo --format %H "$three" >found 2>err
	then
		parts_are_whole "$three"
	else
		test -z "${1-}" && grep "version $three is not in" err
	fi &&
	lists_nothing_half
}

test_expect_success 'fdl-send-version: no version or a whole one' '
	fdl-create-repository --like start/repo start/from &&
	for id in "$one" "$two"
	do
		fdl-send-version --repo start/from --from start/repo "$id" || return 1
	done &&
	three=$(write_version three --parent "$two" --repo start/from) &&
	echo signature >"start/from/versions/$three/version.json.sig" &&
	crashes sent_version fdl-send-version --from world/from "$three" &&
	test $kills = 10
'

sent_files() {
	for i in 1 2 3
	do
		if test -e "world/repo/data/$i" || test -n "${1-}"
		then
			cmp "file.$i" "world/repo/data/$i" || return 1
		fi
	done &&
	lists_nothing_half
}

test_expect_success 'fdl-send-files: of each file nothing or the whole' '
	for i in 1 2 3
	do
		head -c 100000 /dev/urandom >file.$i &&
		printf "data/$i\tfile.$i\t100000\n" || return 1
	done >list &&
	echo "fdl-send-files --jobs 3 <list" >send.sh &&
	crashes sent_files sh send.sh &&
	test $kills = 6
'

test_expect_success 'a lock whose holder was killed is free' '
	rm -rf world && cp -R start world &&
	for n in 1 2
	do
		echo $n >countdown &&
		echo "echo $n | FDL_TEST_KILL_AFTER=countdown fdl-put-object a/object" >put.sh &&
		test_expect_code 137 setsid -w sh put.sh || return 1
	done &&
	test "$(fdl-cat-object a/object)" = 2 &&
	echo last | fdl-put-object a/object &&
	test "$(fdl-cat-object a/object)" = last
'

test_done
