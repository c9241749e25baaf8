#!/bin/sh
# Finds what gc would delete among 1,000 versions that name 10,000 files each, in turn with a loop in Python that reads the
# same lists with the json module.
# usage: t/perf/gc.sh [RUNS]

runs=${1:-5}
TEST_DIRECTORY=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=t/paths
. "$TEST_DIRECTORY/paths"
# shellcheck source=t/perf/lib.sh
. "$TEST_DIRECTORY/perf/lib.sh"

fdl-create-repository repo || exit 1
python3 - <<\END
import hashlib, json, pathlib

repo = pathlib.Path("repo")
identity = json.loads((repo / "fdl.json").read_text())["id"]
paths = [f"main/t/ducklake-01900000-0000-7000-8000-{n:012}.parquet" for n in range(20_000)]
(repo / "data/main/t").mkdir(parents=True)
for path in paths:
    (repo / "data" / path).touch()
lines = [json.dumps({"path": path, "size": 0, "kind": "data"}, separators=(",", ":")) for path in paths]
parents = []
for n in range(1000):
    # Ten files come with each version, and ten go.
    index = '{"fdl":"1.0","files":[\n' + ",\n".join(lines[n * 10 : n * 10 + 10_000]) + "\n]}\n"
    version = f"01900000-{n:04x}-7000-8000-000000000000"
    folder = repo / "versions" / version
    folder.mkdir(parents=True)
    (folder / "files.json").write_text(index)
    (folder / "version.json").write_text(json.dumps({
        "fdl": "1.0", "id": version, "repository": identity, "parents": parents, "author": "A U Thor <author@example.com>",
        "created": "2026-12-01T00:00:00Z", "message": "m\n", "sha256": "0" * 64, "size": 0, "ducklake": "1.0",
        "files_sha256": hashlib.sha256(index.encode()).hexdigest(),
    }))
    parents = [version]
(repo / "refs/heads").mkdir(parents=True)
(repo / "refs/heads/main").write_text(version + "\n")
END
cat >loop.py <<\END
import json, pathlib

named = set()
for index in pathlib.Path("repo").glob("versions/*/files.json"):
    named.update(file["path"] for file in json.loads(index.read_text())["files"])
data = pathlib.Path("repo/data")
print(sum(str(path.relative_to(data)) not in named for path in data.rglob("*.parquet")))
END
python3 "$TEST_DIRECTORY/perf/measure.py" "$runs" 'fdl gc --dry-run' 'fdl-gc --dry-run --grace 0 repo >out 2>err' \
	'Python, json' 'python3 loop.py >out'
