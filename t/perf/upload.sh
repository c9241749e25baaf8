#!/bin/sh
# Sends 100 files of 10 MiB, and then one of 6 GiB, to an S3 server on loopback, in turn with rclone, 16 at once.
# usage: t/perf/upload.sh [RUNS]

runs=${1:-3}
TEST_DIRECTORY=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=t/paths
. "$TEST_DIRECTORY/paths"
# shellcheck source=t/perf/lib.sh
. "$TEST_DIRECTORY/perf/lib.sh"
command -v rclone >/dev/null || die "there is no rclone: 'apt-get install rclone'"
"$TEST_DIRECTORY/other-servers" || exit 1

AWS_ACCESS_KEY_ID=test-key AWS_SECRET_ACCESS_KEY=test-secret AWS_EC2_METADATA_DISABLED=true AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_EC2_METADATA_DISABLED AWS_REGION
mkdir -p store/lakes many one
RUST_LOG=s3s_fs=info python3 "$TEST_DIRECTORY/other-server.py" "$PWD/port" "$target/servers/bin/s3s-fs" --host 127.0.0.1 \
	--port 0 --access-key "$AWS_ACCESS_KEY_ID" --secret-key "$AWS_SECRET_ACCESS_KEY" store >server.out 2>&1 &
server=$!
wait_for port
AWS_ENDPOINT_URL=http://127.0.0.1:$(cat port)
export AWS_ENDPOINT_URL
unset AWS_CA_BUNDLE
fdl-create-repository --single-writer s3://lakes/repo || exit 1

python3 -c '
import os
for n in range(100):
    with open(f"many/{n}.parquet", "wb") as file:
        file.write(os.urandom(10 << 20))
with open("one/large.parquet", "wb") as file:
    file.truncate(6 << 30)
'

# compare FOLDER RUNS
compare() {
	for file in "$1"/*
	do
		printf 'data/RUN/%s\t%s\t%s\n' "$file" "$PWD/$file" "$(wc -c <"$file")"
	done >"$1.list"
	python3 "$TEST_DIRECTORY/perf/measure.py" "$2" \
		fdl-send-files "sed s/RUN/\$RUN/ $1.list | fdl-send-files --repo s3://lakes/repo >/dev/null 2>&1; rm -rf store/lakes/repo/data" \
		'rclone copy' "rclone copy --config /dev/null --s3-provider Other --s3-env-auth --s3-endpoint $AWS_ENDPOINT_URL \
			--s3-no-check-bucket --transfers 16 --s3-chunk-size 16M --s3-upload-cutoff 64M --no-traverse \
			$1 :s3:lakes/rclone/\$RUN && rm -rf store/lakes/rclone"
}

echo '100 files of 10 MiB:'
compare many "$runs"
echo 'one file of 6 GiB:'
compare one 1
