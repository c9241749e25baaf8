#!/bin/sh

test_description='fdl fsck finds whatever is not as it must be, and mends what can be made anew'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
# shellcheck source=t/lib-http.sh
. "$TEST_DIRECTORY/lib-http.sh"

# finds LINE...: fsck exits with 1, finds errors that match these patterns, one each, and changes nothing.
finds() {
	unchanged test_expect_code 1 fdl fsck repo >found &&
	grep -v "^note	" found >out &&
	test_line_count $# out &&
	for pattern
	do
		test_grep "^error	$pattern" out || return 1
	done
}

# damage COMMANDS: a copy of the good repository, damaged.
damage() {
	rm -rf repo && cp -R good repo && eval "$1"
}

test_expect_success 'setup: a lake with deletions, a tag, and a version that was taken away' '
	setup_towns &&
	publish "INSERT INTO lake.towns VALUES (\$\$Here\$\$, \$\$XX\$\$, 5)" three &&
	fdl tag towns v1 HEAD~1 &&
	fdl expire --keep-last 1 towns &&
	mv towns good &&
	three=$(fdl-resolve-ref --repo good main) &&
	two=$(fdl-resolve-ref --repo good v1) &&
	one=$(fdl-resolve-ref --repo good main~2) &&
	file=$(cd good && ls data/main/towns/*.parquet | head -n 1) &&
	deletes=$(cd good && ls data/main/towns/*-delete.parquet | head -n 1)
'

test_expect_success 'nothing is found where nothing is wrong' '
	damage : &&
	unchanged fdl fsck repo >out 2>err &&
	test ! -s out &&
	echo "2 versions and 3 data files: 0 errors" >expect &&
	test_cmp expect err &&
	unchanged fdl fsck --data repo >out &&
	test ! -s out &&
	unchanged fdl fsck --repair repo >out &&
	test ! -s out &&
	fdl-create-repository empty &&
	fdl fsck empty
'

test_expect_success 'refs' '
	damage "echo x >repo/refs/tags/v1" &&
	finds "refs/tags/v1	.*does not hold a version id" "refs.json	.*is damaged" &&
	damage "echo $nowhere >repo/refs/tags/v1" &&
	finds "refs/tags/v1	it holds version $nowhere, which is not there" "refs.json	it is not what the refs are" &&
	damage "echo $one >repo/refs/tags/v1" &&
	finds "refs/tags/v1	it holds version $one, which was taken away" "refs.json	it is not what the refs are" &&
	damage "echo $three >repo/refs/tags/a..b" &&
	finds "refs/tags/a..b	this is no name of a ref" &&
	damage "ln -s v1 repo/refs/tags/v2" &&
	finds "refs/tags/v2	this is no name of a ref" &&
	damage "rm repo/refs.json" &&
	finds "refs.json	it is not what the refs are" &&
	damage "echo x >repo/refs.json" &&
	finds "refs.json	it is not what the refs are" &&
	damage "echo x >repo/HEAD" &&
	finds "HEAD	.*" "refs.json	.*HEAD.*"
'

test_expect_success 'version.json' '
	damage "echo x >repo/versions/$two/version.json" &&
	finds "versions/$two/version.json	.* is damaged" \
		"versions/$three/version.json	it is built on version $two, which is not there or is damaged" &&
	damage "cp repo/versions/$two/version.json repo/versions/$three" &&
	finds "versions/$three/version.json	.* holds version $two" &&
	damage "rm -r repo/versions/$one" &&
	finds "versions/$two/version.json	it is built on version $one, which is not there or is damaged" &&
	damage "sed s/Leave/leave/ good/versions/$two/version.json >repo/versions/$two/version.json" &&
	finds "versions/$three/version.json	it is built on version $two with sha256 .*, but that has sha256" &&
	damage "rm -r repo/versions/$two repo/refs/tags/v1 && fdl-update-server-info" &&
	finds "versions/$three/version.json	it is built on version $two, which is not there or is damaged"
'

test_expect_success 'catalogs' '
	damage "rm repo/versions/$two/ducklake.duckdb" &&
	finds "versions/$two/ducklake.duckdb	it is not there" &&
	damage "echo >>repo/versions/$two/ducklake.duckdb" &&
	finds "versions/$two/ducklake.duckdb	it has [0-9]* bytes, not [0-9]*" &&
	damage "printf x | dd of=repo/versions/$two/ducklake.duckdb bs=1 seek=5000 conv=notrunc" &&
	finds "versions/$two/ducklake.duckdb	it has sha256 .*, but version.json says"
'

# resigned ID FILE: puts the digest and the size of FILE, which is its catalog or its files.json, into version.json.
resigned() {
	python3 -c "
import hashlib, json, sys
path, file = sys.argv[1:]
version = json.load(open(path))
content = open(file, \"rb\").read()
name = \"files_sha256\" if file.endswith(\"files.json\") else \"sha256\"
version[name] = hashlib.sha256(content).hexdigest()
if name == \"sha256\":
    version[\"size\"] = len(content)
json.dump(version, open(path, \"w\"))
" "repo/versions/$1/version.json" "$2"
}

test_expect_success 'a catalog or an index that was never right, whatever the digests say' '
	damage "head -c 20000 /dev/zero >repo/versions/$three/ducklake.duckdb" &&
	resigned "$three" "repo/versions/$three/ducklake.duckdb" &&
	finds "versions/$three/ducklake.duckdb	.*is neither" &&
	damage "sed \"s/\\\"delete\\\"/\\\"data\\\"/\" good/versions/$three/files.json >repo/versions/$three/files.json" &&
	resigned "$three" "repo/versions/$three/files.json" &&
	finds "versions/$three/files.json	it does not say of .*-delete.parquet. what the catalog says"
'

test_expect_success 'what was made from a catalog, and --repair' '
	damage "rm repo/versions/$two/files.json && echo x >repo/versions/$three/files.json && rm repo/refs.json" &&
	echo "{\"fdl\":\"1.0\",\"ducklake\":\"1.0\",\"schemas\":[]}" >repo/versions/$two/dataset.json &&
	rm "repo/versions/$three/dataset.json" &&
	finds "versions/$two/files.json	it is not there" "versions/$three/files.json	.*has sha256" \
		"versions/$two/dataset.json	it does not say what the catalog says" \
		"versions/$three/dataset.json	it is not there" "refs.json	it is not what the refs are" &&
	fdl fsck --repair repo >out 2>err &&
	test "$(grep -c "^repaired	" out)" = 5 && test_line_count 5 out &&
	tree good >expect && tree repo >actual && test_cmp expect actual &&
	damage "rm repo/versions/$two/ducklake.duckdb repo/refs.json" &&
	test_expect_code 1 fdl fsck --repair repo >out &&
	test_grep "^error	versions/$two/ducklake.duckdb	it is not there" out &&
	test_grep "^repaired	refs.json" out
'

test_expect_success 'data files' '
	damage "rm repo/$file" &&
	finds "$file	it is not there; version [0-9a-f-]* names it" &&
	damage "echo >>repo/$deletes" &&
	finds "$deletes	it has [0-9]* bytes, but version [0-9a-f-]* says [0-9]*" &&
	damage "printf XXXX | dd of=repo/$file bs=1 seek=0 conv=notrunc" &&
	unchanged fdl fsck repo &&
	unchanged test_expect_code 1 fdl fsck --data repo >out &&
	test_line_count 1 out &&
	test_grep "^error	$file	it does not begin and end as a file of its kind does" out
'

test_expect_success 'what nothing needs is noted, and is no error' '
	damage "echo x >repo/data/main/towns/other.txt && mkdir repo/versions/$nowhere && echo x >repo/versions/$nowhere/files.json" &&
	echo partial >repo/.fdl-tmp-1 &&
	cp "good/versions/$two/ducklake.duckdb" "repo/versions/$one" &&
	unchanged fdl fsck repo >out &&
	test_line_count 4 out &&
	test_grep "^note	data	1 files (2 B) that no version names" out &&
	test_grep "^note	versions/$nowhere/version.json	it is not there: a push goes on" out &&
	test_grep "^note	versions/$one/ducklake.duckdb	the version was taken away" out &&
	test_grep "^note		1 writes that were cut off" out
'

test_expect_success 'a mark or a list of a version that was taken away is looked at, for gc believes them' '
	damage "echo x >repo/versions/$one/expired.json" &&
	finds "versions/$one/expired.json	.*is damaged" &&
	damage "echo x >repo/versions/$one/files.json" &&
	finds "versions/$one/files.json	.*has sha256"
'

test_expect_success 'not of a working catalog, and not where nothing can be listed' '
	damage "echo elsewhere >repo/origin" &&
	refused 128 "belongs to a working catalog" fdl fsck repo &&
	damage : &&
	start_python "$TRASH_DIRECTORY" &&
	refused 6 "cannot be listed, so what is missing cannot be told" fdl fsck "$url/repo"
'

test_expect_success 'in a bucket' '
	start_s3 &&
	damage : &&
	fdl-create-repository --like repo s3://lakes/towns &&
	fdl-ls-objects --repo repo | cut -f 1 | grep -v "^fdl.json\|^HEAD" | while read -r key
	do
		fdl-put-object --repo s3://lakes/towns "$key" <"repo/$key" || return 1
	done &&
	fdl fsck --data s3://lakes/towns >out 2>err &&
	test ! -s out &&
	test_grep "2 versions and 3 data files: 0 errors" err &&
	echo "$file" | fdl-rm-objects --repo s3://lakes/towns &&
	test_expect_code 1 fdl fsck s3://lakes/towns >out &&
	test_grep "^error	$file	it is not there" out
'

test_done
