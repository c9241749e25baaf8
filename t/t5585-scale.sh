#!/bin/sh

test_description='1,000 refs, 5,000 versions, 100,000 data files: lists have many pages, and nothing is lost between two'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"

# What the commands must print is told by the program that makes the repository.
test_expect_success 'setup' - <<\END
	fdl-create-repository repo && write_version first >first &&
	python3 - "$(cat first)" <<\PROGRAM
import hashlib, json, pathlib, sys

repo, first = pathlib.Path("repo"), sys.argv[1]
template = json.loads((repo / "versions" / first / "version.json").read_text())
parts = [(path.name, path.read_bytes()) for path in (repo / "versions" / first).iterdir() if path.name != "version.json"]
ids, parent, digest = [], first, hashlib.sha256((repo / "versions" / first / "version.json").read_bytes()).hexdigest()
for n in range(1, 5000):
    # Later than the first, in the order of their making.
    id = f"{int(first[:8], 16) + 1:08x}-{n:04x}-7000-8000-{n:012x}"
    text = json.dumps(template | {"id": id, "parents": [parent], "parent_sha256": digest, "message": f"version {n}\n"})
    folder = repo / "versions" / id
    folder.mkdir()
    for name, content in parts:
        (folder / name).write_bytes(content)
    (folder / "version.json").write_text(text)
    ids.append(id)
    parent, digest = id, hashlib.sha256(text.encode()).hexdigest()
refs = {"refs/heads/main": parent} | {f"refs/tags/v{n:03}": ids[n * 5] for n in range(999)}
for name, id in refs.items():
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(id + "\n")
keys = [f"data/main/t/part={n % 100}/ducklake-01900000-0000-7000-8000-{n:012}.parquet" for n in range(100_000)]
for key in keys[:100]:
    (repo / key).parent.mkdir(parents=True, exist_ok=True)
for key in keys:
    (repo / key).touch()
pathlib.Path("refs.expect").write_text("".join(f"{id}\t{name}\n" for name, id in sorted(refs.items())))
pathlib.Path("keys.expect").write_text("".join(f"{key}\n" for key in sorted(keys)))
pathlib.Path("ids.expect").write_text("".join(f"{id}\n" for id in [*reversed(ids), first]))
PROGRAM
END

# scales: all lists are whole, in FDL_REPO.
scales() {
	fdl-for-each-ref >refs.actual &&
	test_cmp refs.expect refs.actual &&
	fdl-update-server-info &&
	fdl-cat-object refs.json >published &&
	test "$(grep -c "^    \"refs/" published)" = 1000 &&
	fdl-ls-objects data >objects && cut -f 1 objects >keys.actual &&
	cmp keys.expect keys.actual &&
	fdl-rev-list HEAD >ids.actual &&
	cmp ids.expect ids.actual &&
	fdl-ls-objects versions >objects &&
	test_line_count 20000 objects
}

test_expect_success 'in a folder' '
	scales &&
	fdl log --oneline repo >log &&
	test_line_count 5000 log &&
	test_grep "tag: v998" log
'

test_expect_success 'gc and expire see all of it' '
	fdl gc --dry-run --grace 0 repo >out 2>err &&
	test_line_count 100000 out &&
	cut -f 1 out | sort | cmp keys.expect - &&
	fdl expire --dry-run --keep-last 10 repo >plan &&
	test "$(grep -c "^keep	" plan)" = 1008 &&
	test "$(grep -c "^expire	" plan)" = 3992
'

test_expect_success 'in a bucket, a thousand keys a page' - <<\END
	rm repo/refs.json && S3_PRELOAD=$PWD/repo start_s3 &&
	FDL_REPO=s3://lakes && scales &&
	requests fdl-ls-objects data >out && test "$(grep -c '^LIST data/' out)" = 100 &&
	requests fdl-for-each-ref >out && test "$(grep -c '^LIST refs/' out)" = 1 && test "$(grep -c '^GET refs/' out)" = 1000
END

test_done
