#!/bin/sh

test_description='a role has the rights that its commands use, and no more'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3

FDL_REPO=s3://lakes/repo

# add_user ROLE: a user of that name with that role's policy, and the user's keys in the file ROLE.
add_user() {
	fdl-policy --role "$1" >policy &&
	iam CreateUser UserName="$1" >/dev/null &&
	iam PutUserPolicy UserName="$1" PolicyName=p PolicyDocument="$(cat policy)" >/dev/null &&
	iam CreateAccessKey UserName="$1" >"$1"
}

test_expect_success 'a repository, one beside it, and a user for each role' '
	fdl-create-repository s3://lakes/repo &&
	fdl-create-repository s3://lakes/repo2 &&
	one=$(write_version one) &&
	two=$(write_version two --parent "$one") &&
	fdl-update-ref refs/heads/main "$one" "" &&
	for role in reader writer publisher janitor
	do
		add_user $role || return 1
	done
'

# by ROLE COMMAND...: the command with that role's keys, while the server looks at rights.
by() {
	role=$1
	shift
	check_signatures yes
	as "$(element AccessKeyId "$role")" "$(element SecretAccessKey "$role")" "$@"
	by_status=$?
	check_signatures no
	return "$by_status"
}

denied='the access key .* may not'

# put KEY: writes an object of one byte.
put() {
	printf x | fdl-put-object "$1"
}

# delete KEY
delete() {
	echo "$1" | fdl-rm-objects
}

test_expect_success 'all may read and list' '
	for role in reader writer publisher janitor
	do
		by $role fdl url s3://lakes/repo &&
		by $role fdl-ls-objects >list &&
		test_grep "^fdl.json	" list || return 1
	done
'

test_expect_success 'and nothing beside the repository' '
	for role in reader writer publisher janitor
	do
		by $role refused 6 "$denied read it" fdl-cat-object --repo s3://lakes/repo2 HEAD || return 1
	done
'

test_expect_success 'a reader writes nothing' '
	for key in data/a.parquet "versions/$one/files.json" refs/heads/main HEAD fdl.json
	do
		by reader refused 6 "$denied write it" put "$key" || return 1
	done
'

test_expect_success 'a writer adds data and versions, and moves no ref' '
	by writer put data/main/t/a.parquet &&
	three=$(by writer write_version three --parent "$one") &&
	by writer refused 6 "$denied write it" fdl-update-ref refs/heads/main "$two" "$one" &&
	by writer refused 6 "$denied write it" put fdl.json &&
	by writer refused 6 "$denied write it" put "versions/$one/expired.json" &&
	by writer refused 6 "$denied delete it" fdl-update-ref -d refs/heads/main
'

test_expect_success 'a publisher moves and deletes refs, and deletes nothing else' '
	by publisher fdl-update-ref refs/heads/main "$two" "$one" &&
	by publisher fdl-update-server-info &&
	by publisher fdl-update-ref refs/tags/v1 "$one" &&
	by publisher fdl-update-ref -d refs/tags/v1 &&
	by publisher refused 6 "$denied write it" put fdl.json &&
	by publisher test_expect_code 6 delete data/main/t/a.parquet &&
	fdl-cat-object data/main/t/a.parquet
'

test_expect_success 'a janitor marks and deletes, and adds nothing' '
	by janitor put "versions/$one/expired.json" &&
	by janitor delete data/main/t/a.parquet &&
	refused 3 "is not in" fdl-cat-object data/main/t/a.parquet &&
	by janitor refused 6 "$denied write it" put data/main/t/b.parquet &&
	by janitor refused 6 "$denied write it" put refs/heads/main
'

# More than one object would go with one request, for which this server wants a right to delete the bucket.
test_expect_success 'a janitor collects, with no right missing' '
	orphan=data/main/t/ducklake-01900000-0000-7000-8000-000000000001.parquet &&
	put $orphan &&
	fdl-update-ref refs/tags/three "$three" &&
	fdl-rm-objects <<-END &&
	versions/$one/expired.json
	END
	by janitor fdl gc --grace 0 --force s3://lakes/repo >out 2>err &&
	! grep warning err &&
	printf "%s\t1\tunnamed\n" $orphan >expect &&
	test_cmp expect out &&
	fdl-ls-objects gc.json >out &&
	test ! -s out
'

test_expect_success 'resources are named in the part of AWS where the region is' '
	for pair in us-east-1:aws eu-west-1:aws cn-north-1:aws-cn us-gov-west-1:aws-us-gov us-iso-east-1:aws-iso
	do
		AWS_REGION=${pair%:*} fdl-policy --role janitor >regional &&
		grep -c "arn:" regional >all &&
		grep -c "\"arn:${pair#*:}:s3:::lakes" regional >ours &&
		test_cmp all ours || return 1
	done
'

test_expect_success 'the policy is JSON, and a folder has none' '
	python3 -m json.tool policy >/dev/null &&
	fdl-create-repository repo &&
	refused 128 "is no bucket" fdl-policy --repo repo --role reader &&
	test_expect_code 129 fdl-policy --role king &&
	test_expect_code 129 fdl-policy
'

test_done
