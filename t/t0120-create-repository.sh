#!/bin/sh

test_description='a repository is made once, and never over anything'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

test_expect_success 'an empty repository is HEAD and fdl.json' '
	fdl-create-repository repo &&
	(cd repo && find . -type f | sort) >files &&
	printf "%s\n" ./HEAD ./fdl.json >expect &&
	test_cmp expect files &&
	test "$(cat repo/HEAD)" = "ref: refs/heads/main" &&
	cat >expect <<-END &&
	{
	  "fdl": "1.0",
	  "id": "$(fdl-repository-var id)",
	  "data_dir": "data",
	  "features": []
	}
	END
	test_cmp expect repo/fdl.json
'

test_expect_success 'HEAD is written before fdl.json, both only where there is none' '
	FDL_TRACE="$PWD/trace" fdl-create-repository traced &&
	grep "^PUT" trace | cut -f 1,2,5 >actual &&
	printf "PUT %s\tok\tIf-None-Match: *\n" HEAD fdl.json >expect &&
	test_cmp expect actual
'

test_expect_success 'a repository that is there is left alone' '
	unchanged refused 1 "^error: .repo. is a repository already; nothing was changed" fdl-create-repository repo &&
	unchanged refused 1 "is a repository already" fdl-create-repository --branch trunk repo &&
	unchanged refused 1 "is a repository already" fdl-create-repository "file://$PWD/repo"
'

test_expect_success 'folders above it are made, and a folder that holds other things will do' '
	fdl-create-repository a/b/c &&
	test "$(fdl-repository-var --repo a/b/c data-dir)" = data &&
	mkdir full &&
	echo notes >full/notes.txt &&
	fdl-create-repository full &&
	test "$(cat full/notes.txt)" = notes
'

test_expect_success 'each has an id of its own, but for one that is made like another' '
	id=$(fdl-repository-var id) &&
	test "$(fdl-repository-var --repo full id)" != "$id" &&
	sed "s,\"data_dir\": \".*\",\"data_dir\": \"lake/files\"," repo/fdl.json >fdl.json &&
	cp fdl.json repo/fdl.json &&
	fdl-create-repository --like repo mirror &&
	test "$(fdl-repository-var --repo mirror id data-dir)" = "$id${newline}lake/files"
'

test_expect_success 'fdl-repository-var says where things are' '
	fdl-repository-var id url data-dir data-url >out &&
	printf "%s\n" "$id" "$PWD/repo/" lake/files "$PWD/repo/lake/files/" >expect &&
	test_cmp expect out &&
	test_expect_code 129 fdl-repository-var &&
	test_expect_code 129 fdl-repository-var id color
'

test_expect_success 'one that was made in part is finished' '
	mkdir part &&
	cp traced/HEAD part/ &&
	fdl-create-repository part &&
	fdl-repository-var --repo part id >out
'

test_expect_success 'a HEAD that names something else is not made a part of it' '
	for text in "ref: refs/heads/trunk" "ref: refs/heads/main " "0123456789abcdef0123456789abcdef01234567"
	do
		rm -rf other &&
		mkdir other &&
		echo "$text" >other/HEAD &&
		refused 128 "^fatal: there is no repository at .*/other/., but a HEAD that does not name .refs/heads/main." \
			fdl-create-repository other &&
		test "$(ls other)" = HEAD &&
		test "$(cat other/HEAD)" = "$text" || return 1
	done &&
	echo "ref: refs/heads/trunk" >other/HEAD &&
	fdl-create-repository --branch trunk other
'

test_expect_success 'a branch that may be none makes nothing' '
	for branch in "" ../x .x x.lock "a b" "$(printf "\033")"
	do
		refused 128 "^fatal: bad ref name" fdl-create-repository --branch "$branch" new || return 1
	done &&
	refused 128 ".none. is not a repository" fdl-create-repository --like none new &&
	test_path_is_missing new
'

test_expect_success 'a place that can be none is refused' '
	: >file &&
	refused 6 "^error: cannot make folder .*/file/x.: Not a directory" fdl-create-repository file/x &&
	refused 6 "^error: cannot make folder .*/file.: File exists" fdl-create-repository file &&
	refused 128 "no store for .gopher://" fdl-create-repository gopher://x/y &&
	refused 128 "path is empty" fdl-create-repository "" &&
	test_expect_code 129 fdl-create-repository &&
	test_expect_code 129 fdl-create-repository new new2 &&
	test_path_is_missing new
'

test_expect_success 'of many that make the same one, one does' '
	for round in 1 2 3 4 5
	do
		for i in $(seq 16)
		do
			{ fdl-create-repository "same$round" 2>err.$i; echo $? >status.$i; } &
		done
		wait
		cat status.* | sort | uniq -c | tr -s " " >statuses &&
		printf " 1 0\n 15 1\n" >expect &&
		test_cmp expect statuses &&
		fdl-repository-var --repo "same$round" id >out || return 1
	done
'

test_done
