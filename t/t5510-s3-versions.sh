#!/bin/sh

test_description='refs and versions in a bucket: moved on condition, listed, sent there and back'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

FDL_REPO=s3://lakes/repo
main=refs/heads/main
writers=16

# holds REF ID
holds() {
	test "$(fdl-cat-object "$1")" = "$2"
}

test_expect_success 'versions are written' '
	fdl-create-repository s3://lakes/repo &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	three=$(write_version three --parent "$two") &&
	beside=$(write_version beside --parent "$one") &&
	fdl-ls-objects "versions/$one" | cut -f 1 >actual &&
	printf "versions/$one/%s\n" dataset.json ducklake.duckdb files.json version.json >expect &&
	test_cmp expect actual
'

test_expect_success 'a branch is made, moves forward, and neither back nor aside' '
	fdl-update-ref $main "$one" "" &&
	holds $main "$one" &&
	fdl-update-ref $main "$three" "$one" &&
	holds $main "$three" &&
	refused 2 "no ancestor of $one; a branch moves forward only" fdl-update-ref $main "$one" &&
	refused 2 "no ancestor of $beside" fdl-update-ref $main "$beside" &&
	refused 2 "holds $three now" fdl-update-ref $main "$two" "$one" &&
	holds $main "$three"
'

test_expect_success 'a tag is made once' '
	fdl-update-ref refs/tags/v1 "$one" &&
	refused 2 "a tag never moves" fdl-update-ref refs/tags/v1 "$two" &&
	holds refs/tags/v1 "$one"
'

test_expect_success 'a ref is deleted only where it holds what is expected' '
	fdl-update-ref refs/heads/gone "$one" &&
	refused 2 "holds $one now" fdl-update-ref -d refs/heads/gone "$two" &&
	holds refs/heads/gone "$one" &&
	fdl-update-ref -d refs/heads/gone "$one" &&
	refused 3 "does not exist" fdl-update-ref -d refs/heads/gone
'

test_expect_success 'names are looked up' '
	test "$(fdl-resolve-ref HEAD)" = "$three" &&
	test "$(fdl-resolve-ref main~1)" = "$two" &&
	test "$(fdl-resolve-ref v1)" = "$one" &&
	test "$(fdl-resolve-ref "$beside")" = "$beside" &&
	refused 3 "neither a ref nor a version" fdl-resolve-ref none
'

test_expect_success 'refs and history are listed, and refs.json follows' '
	printf "%s\t%s\n" "$three" $main "$one" refs/tags/v1 >expect &&
	fdl-for-each-ref >actual &&
	test_cmp expect actual &&
	printf "%s\n" "$three" "$two" "$one" >expect &&
	fdl-rev-list main >actual &&
	test_cmp expect actual &&
	fdl-update-server-info &&
	fdl-cat-object refs.json >refs.json &&
	test_grep "\"refs/tags/v1\": *\"$one\"" refs.json
'

test_expect_success 'HEAD is changed on condition' '
	fdl-symbolic-ref HEAD refs/heads/next &&
	test "$(fdl-symbolic-ref HEAD)" = refs/heads/next &&
	fdl-symbolic-ref HEAD refs/heads/main
'

# race REF [OLD]: every version of the list 'ids' wants the ref at once; leaves a status per writer in 'race'.
race() {
	rm -rf race &&
	mkdir race || return
	while read -r id
	do
		{
			fdl-update-ref "$1" "$id" ${2+"$2"} 2>"race/$id.err"
			echo $? >"race/$id"
		} &
		racing="${racing-} $!"
	done <ids
	# shellcheck disable=SC2086 # a list of numbers
	wait $racing
}

# one_won REF: exactly one writer was successful, and the ref holds its version; the others were told.
one_won() {
	winner=$(fdl-cat-object "$1") &&
	test "$(cat "race/$winner")" = 0 &&
	grep -lx 0 race/* >won &&
	test_line_count 1 won &&
	grep -lx 2 race/* >lost &&
	test_line_count $((writers - 1)) lost
}

test_expect_success "one of $writers moves a branch, and one makes one" '
	for i in $(seq $writers)
	do
		write_version "$i" --parent "$three" || return 1
	done >ids &&
	for round in 1 2 3
	do
		fdl-update-ref "refs/heads/r$round" "$three" "" &&
		race "refs/heads/r$round" "$three" &&
		one_won "refs/heads/r$round" &&
		race "refs/heads/new$round" &&
		one_won "refs/heads/new$round" || return 1
	done
'

test_expect_success 'a version goes to a folder and comes back as it was' '
	fdl-create-repository --like s3://lakes/repo copy &&
	fdl-send-version --from s3://lakes/repo --repo copy "$one" &&
	fdl-create-repository --like copy s3://lakes/copy &&
	fdl-send-version --from copy --repo s3://lakes/copy "$one" &&
	for name in dataset.json ducklake.duckdb files.json version.json
	do
		fdl-cat-object "versions/$one/$name" >expect &&
		fdl-cat-object --repo s3://lakes/copy "versions/$one/$name" >actual &&
		cmp expect actual || return 1
	done &&
	fdl-send-version --from copy --repo s3://lakes/copy "$one"
'

test_expect_success 'what is there with other content is never overwritten' '
	echo other | fdl-put-object --repo s3://lakes/copy "versions/$one/files.json" &&
	refused 5 "with other content; it was not overwritten" fdl-send-version --from copy --repo s3://lakes/copy "$one" &&
	test "$(fdl-cat-object --repo s3://lakes/copy "versions/$one/files.json")" = other
'

test_expect_success 'data files are sent once; one of another size is told' '
	head -c 70000 /dev/urandom >file &&
	printf "data/main/t/%s.parquet\t$PWD/file\t70000\n" a b "c d" >list &&
	fdl-send-files <list >out &&
	test "$(grep -c "^sent" out)" = 3 &&
	fdl-cat-object "data/main/t/c d.parquet" >actual &&
	cmp file actual &&
	fdl-send-files <list >out &&
	test "$(grep -c "^present" out)" = 3 &&
	printf 123456 >small &&
	printf "data/main/t/a.parquet\t$PWD/small\t6\n" >list &&
	refused 5 "is there with 70000 bytes instead of 6" eval "fdl-send-files <list"
'

test_expect_success 'objects are checked by size' '
	printf "data/main/t/%s.parquet\t70000\n" a b >list &&
	fdl-check-objects --settle <list &&
	printf "data/main/t/%s.parquet\t%s\n" a 7 none 70000 >list &&
	test_expect_code 1 fdl-check-objects <list >actual &&
	test_grep "a.parquet	70000 bytes instead of 7" actual &&
	test_grep "none.parquet	missing" actual
'

test_expect_success 'a file goes up in parts, and comes back as it was' '
	head -c 100000000 /dev/urandom >large &&
	printf "data/large.parquet\t$PWD/large\t100000000\n" >list &&
	FDL_TRACE=$PWD/trace fdl-send-files <list >out &&
	test "$(grep -c "^PUT data/large.parquet?partNumber=[1-6]	200" trace)" = 6 &&
	test "$(grep -c "^POST data/large.parquet?upload" trace)" = 2 &&
	fdl-cat-object data/large.parquet >actual &&
	cmp large actual &&
	fdl-put-object data/again <large &&
	refused 2 "does not match" eval "fdl-put-object --if-none-match data/again <large" &&
	s3 GET "/lakes?uploads" >uploads &&
	! grep "<Upload>" uploads
'

test_done
