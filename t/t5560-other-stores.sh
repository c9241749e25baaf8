#!/bin/sh

test_description='S3 servers that do not keep two writers apart are refused, and told apart'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"

AWS_ACCESS_KEY_ID=test-key AWS_SECRET_ACCESS_KEY=test-secret AWS_EC2_METADATA_DISABLED=true
export AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_EC2_METADATA_DISABLED

# start_other NAME COMMAND...: starts such a server; from here on commands go to it.
start_other() {
	name=$1
	shift
	start "$name" python3 "$TEST_DIRECTORY/other-server.py" "$TRASH_DIRECTORY/$name.port" "$@"
	AWS_ENDPOINT_URL=http://127.0.0.1:$port
}

# says YES-OR-NO PROPERTY...: so say the lines of these properties.
says() {
	answer=$1
	shift
	for property
	do
		test_grep "^$property	$answer	" out || return 1
	done
}

# An S3 in a folder, in the version of which the conditions hold only for one request at a time.
mkdir -p s3s-fs/lakes
RUST_LOG=s3s_fs=info start_other s3s-fs "$target/servers/bin/s3s-fs" --host 127.0.0.1 --port 0 \
	--access-key "$AWS_ACCESS_KEY_ID" --secret-key "$AWS_SECRET_ACCESS_KEY" s3s-fs

test_expect_success 's3s-fs lets several of many writers win, and is refused' '
	test_expect_code 1 fdl-probe-store s3://lakes/probed >out &&
	says yes create create-once replace replace-stale replace-missing &&
	says no create-race replace-race &&
	refused 6 "failed the step .*-race.: of 32 at once [0-9]* won" fdl-init s3://lakes/repo &&
	refused 128 "is not a repository" fdl-ls-objects --repo s3://lakes/repo
'

test_expect_success 'one writer can keep a repository there all the same' '
	fdl-init --single-writer s3://lakes/repo &&
	FDL_REPO=s3://lakes/repo && export FDL_REPO &&
	printf "x" | fdl-put-object data/main/t/a=1.parquet &&
	test "$(fdl-cat-object data/main/t/a=1.parquet)" = x &&
	echo data/main/t/a=1.parquet | fdl-rm-objects &&
	refused 3 "is not in" fdl-cat-object data/main/t/a=1.parquet
'

# An S3 that knows no conditions.
AWS_ACCESS_KEY_ID=S3RVER AWS_SECRET_ACCESS_KEY=S3RVER
start_other s3rver "$target/servers/node_modules/.bin/s3rver" --directory "$TRASH_DIRECTORY/s3rver" \
	--address 127.0.0.1 --port 0 --configure-bucket lakes

test_expect_success 's3rver ignores conditions, and is refused' '
	test_expect_code 1 fdl-probe-store s3://lakes/probed >out &&
	says yes create replace keys list &&
	says no create-once replace-stale replace-missing create-race replace-race &&
	refused 6 "failed the step .create-once.: .*one would lose it" fdl-init s3://lakes/repo &&
	refused 128 "is not a repository" fdl-ls-objects --repo s3://lakes/repo
'

test_done
