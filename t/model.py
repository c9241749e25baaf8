"""Leads a repository through a random life, and holds it against a model after each step.

    model.py FOLDER URL POOL SEED STEPS

FOLDER is where the repository is kept and URL how commands reach it; POOL has small Parquet files `N.parquet` of one
row, the value N. Two writers commit and push; branches and tags come and go; versions expire, garbage is collected, time
passes; and any command may be killed at any of its writes, and is then run again.

What must hold, however the steps fell:

- every ref leads to a version that has all its files, each as long as it was;
- so has every version that is not marked as expired, and the log of each ref is whole;
- a command's exit status is one that the model allows, and afterwards the refs hold what the model says;
- a data file is only ever missing when no such version names it and it was old enough to go.
"""

import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import time

DAY = 24 * 3600
# How old what nothing needs must be before gc takes it, in days: its default.
GRACE = 14
CONFLICT = 2
KILLED = -9


class Wrong(Exception):
    """The repository is not as it must be."""


class Writer:
    """A working catalog, into which rows are put as DuckDB's ducklake extension puts them."""

    def __init__(self, model, name):
        self.model, self.lake = model, f"{name}.sqlite"
        self.work = pathlib.Path(self.lake + ".fdl")
        self.branch = "main"
        # The files that each version that is not pushed yet names.
        self.made = {}

    def checkout(self, branch="main"):
        for path in pathlib.Path(".").glob(self.lake + "*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.made = {}
        status = self.model.run("fdl", "checkout", self.model.url, self.lake, branch)
        self.branch = branch
        if status != 0:
            raise Wrong(f"checkout: status {status}")

    def names(self):
        """The paths of the files that the working catalog names, at any of its snapshots."""
        with sqlite3.connect(self.lake) as lake:
            return {"data/main/t/" + path for (path,) in lake.execute("SELECT path FROM ducklake_data_file")}

    def write(self, value, replace):
        """Adds a file with the row `value`; `replace` ends all others of the newest snapshot."""
        name = self.model.new_file(value)
        size = os.path.getsize(self.model.pool / f"{value}.parquet")
        with sqlite3.connect(self.lake) as lake:
            snapshot, schema, catalog_id, file_id = lake.execute(
                "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id"
                " FROM ducklake_snapshot ORDER BY 1 DESC LIMIT 1"
            ).fetchone()
            (table,) = lake.execute("SELECT table_id FROM ducklake_table").fetchone()
            (row_id,) = lake.execute("SELECT next_row_id FROM ducklake_table_stats").fetchone()
            snapshot += 1
            at = f"2026-12-01 00:00:00.{snapshot:06}+00"
            lake.execute("INSERT INTO ducklake_snapshot VALUES (?,?,?,?,?)", (snapshot, at, schema, catalog_id, file_id + 1))
            changes = f"inserted_into_table:{table}"
            lake.execute("INSERT INTO ducklake_snapshot_changes VALUES (?,?,NULL,NULL,NULL)", (snapshot, changes))
            if replace:
                lake.execute("UPDATE ducklake_data_file SET end_snapshot = ? WHERE end_snapshot IS NULL", (snapshot,))
            lake.execute(
                "INSERT INTO ducklake_data_file VALUES (?,?,?,NULL,NULL,?,1,'parquet',1,?,?,?,NULL,NULL,NULL,NULL)",
                (file_id, table, snapshot, name, size, self.model.footers[value], row_id),
            )
            lake.execute(
                "INSERT INTO ducklake_file_column_stats VALUES (?,?,1,29,1,0,?,?,NULL,NULL)",
                (file_id, table, value, value),
            )
            lake.execute("UPDATE ducklake_table_stats SET record_count = record_count + 1, next_row_id = next_row_id + 1")
            lake.execute("UPDATE ducklake_table_column_stats SET min_value = '0', max_value = '999999'")


class Model:
    def __init__(self, folder, url, pool, seed):
        self.folder, self.url, self.pool = pathlib.Path(folder), url, pathlib.Path(pool)
        self.random = random.Random(seed)
        self.values = len(list(self.pool.iterdir()))
        self.footers = {n: footer(self.pool / f"{n}.parquet") for n in range(self.values)}
        self.files = 0
        # What each version names, and the version it is built on.
        self.named, self.parent = {}, {}
        self.refs = {}
        # The sizes of all files that were ever written.
        self.sizes = {}
        self.trace = []

    # The commands.

    def run(self, *command, kill=None):
        environment = dict(os.environ)
        if kill is not None:
            pathlib.Path("left").write_text(str(kill))
            environment["FDL_TEST_KILL_AFTER"] = os.path.abspath("left")
        # The kill is of the whole group.
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, start_new_session=kill is not None
        )
        self.trace.append((" ".join(command), kill, done.returncode, done.stderr.strip()))
        self.out = done.stdout
        return done.returncode

    def through(self, *command):
        """Runs a command, now and then killed once or twice before it gets through; returns its status."""
        while self.random.random() < 0.3:
            status = self.run(*command, kill=self.random.randint(1, 12))
            if status != KILLED:
                return status
            self.check_files()
        return self.run(*command)

    def new_file(self, value):
        self.files += 1
        name = f"ducklake-00000000-0000-7000-8000-{self.files:012}.parquet"
        key = "data/main/t/" + name
        (self.folder / key).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.pool / f"{value}.parquet", self.folder / key)
        self.sizes[key] = os.path.getsize(self.folder / key)
        return name

    # The steps.

    def commit(self):
        writer = self.random.choice(self.writers)
        writer.write(self.random.randrange(self.values), self.random.random() < 0.3)
        status = self.run("fdl", "commit", writer.lake, "-m", f"commit {self.files}")
        if status == 1 and "nothing to commit" in self.trace[-1][3]:
            return
        if self.is_too_late(writer):
            self.expect(status, {3})
            return writer.checkout()
        self.expect(status, {0})
        writer.made[self.out.strip()] = writer.names()

    def push(self):
        writer = self.random.choice(self.writers)
        ref = "refs/heads/" + writer.branch
        tip = work_ref(writer.work, ref)
        base = work_ref(writer.work, "refs/remotes/origin/" + writer.branch)
        status = self.through("fdl", "push", writer.lake)
        if self.refs.get(ref) != base:
            self.expect(status, {CONFLICT})
            return writer.checkout()
        if self.is_too_late(writer) and status != 0:
            self.expect(status, {3})
            return writer.checkout()
        self.expect(status, {0, 4})
        if status == 4:
            return writer.checkout()
        self.refs[ref] = tip
        for version, names in writer.made.items():
            self.named[version] = names
            self.parent[version] = version_json(writer.work, version, self.folder)["parents"]
        writer.made = {}

    def fetch(self):
        writer = self.random.choice(self.writers)
        branches = [ref.removeprefix("refs/heads/") for ref in self.refs if ref.startswith("refs/heads/")]
        writer.checkout(self.random.choice(branches))

    def branch(self):
        name, version = f"b{self.random.randrange(4)}", self.random.choice(list(self.named))
        ref = f"refs/heads/{name}"
        if ref in self.refs:
            if any(writer.branch == name for writer in self.writers):
                return
            self.expect(self.through("fdl", "branch", "-D", self.url, name), {0, 3})
            del self.refs[ref]
        else:
            self.make(ref, version, "branch")

    def tag(self):
        name, version = f"t{self.random.randrange(6)}", self.random.choice(list(self.named))
        ref = f"refs/tags/{name}"
        if ref in self.refs:
            self.expect(self.through("fdl", "tag", "-d", self.url, name), {0, 3})
            del self.refs[ref]
        else:
            self.make(ref, version, "tag")

    def make(self, ref, version, command):
        status = self.through("fdl", command, self.url, ref.split("/")[2], version)
        if self.is_expired(version) or not self.is_there(version):
            self.expect(status, {3, 4})
        elif status == CONFLICT and self.held(ref) == version:
            # It was killed after the ref was written.
            self.refs[ref] = version
        else:
            self.expect(status, {0})
            self.refs[ref] = version

    def revert(self):
        version = self.random.choice(list(self.named))
        tip = self.refs["refs/heads/main"]
        status = self.run("fdl", "revert", self.url, version)
        if version == tip:
            return self.expect(status, {0, 1})
        if self.is_expired(version) or not self.is_there(version):
            return self.expect(status, {3, 4})
        if status == 1:
            return
        self.expect(status, {0})
        made = self.held("refs/heads/main")
        self.refs["refs/heads/main"] = made
        self.named[made], self.parent[made] = self.named[version], [tip]

    def is_too_late(self, writer):
        """Whether the writer has waited for so long that gc took files which no version named."""
        return not all((self.folder / key).exists() for key in writer.names())

    def expire(self):
        keep = self.random.randint(1, 4)
        kept, seen = set(self.refs.values()), set()
        for ref, version in self.refs.items():
            if ref.startswith("refs/heads/"):
                line = [version for version in self.line(version) if not self.is_expired(version)]
                seen.update(line)
                kept.update(line[:keep])
        before = {version for version in self.named if self.is_expired(version)}
        self.expect(self.through("fdl", "expire", "--keep-last", str(keep), self.url), {0})
        gone = {version for version in self.named if self.is_expired(version)} - before
        if gone != seen - kept:
            raise Wrong(f"expire took {gone}, not {seen - kept}")

    def gc(self):
        """Takes all that is old enough and that no version needs, and nothing else."""
        ages = {path: age(path) for path in self.folder.rglob("*") if path.is_file()}
        needed = set()
        for index in self.folder.glob("versions/*/files.json"):
            mark = index.with_name("expired.json")
            if not mark.exists() or ages[mark] < GRACE:
                needed |= self.named.get(index.parent.name) or files_json(index)
        self.expect(self.through("fdl", "gc", self.url), {0})
        for path, days in ages.items():
            key = str(path.relative_to(self.folder))
            if key.startswith("data/") and not path.name.startswith("."):
                if path.exists() != (key in needed or days < GRACE):
                    raise Wrong(f"{key}, {days:.0f} days old, is {'there' if path.exists() else 'gone'}")

    def time_passes(self):
        """All that is there gets older by some days."""
        by = self.random.choice([1, 3, 8]) * DAY
        for path in self.folder.rglob("*"):
            stat = path.stat()
            os.utime(path, (stat.st_atime - by, stat.st_mtime - by))

    # What must hold.

    def found(self):
        """The refs that the repository has. What a killed command leaves beside them begins with a dot."""
        paths = [path for path in self.folder.glob("refs/*/*") if not path.name.startswith(".")]
        return {str(path.relative_to(self.folder)): path.read_text().strip() for path in paths}

    def held(self, ref):
        path = self.folder / ref
        return path.read_text().strip() if path.exists() else None

    def is_there(self, version):
        return (self.folder / "versions" / version / "version.json").exists()

    def is_expired(self, version):
        return (self.folder / "versions" / version / "expired.json").exists()

    def reached(self):
        """The versions that a ref leads to, with those they are built on."""
        seen, todo = set(), list(self.refs.values())
        while todo:
            version = todo.pop()
            if version not in seen:
                seen.add(version)
                todo += self.parent[version]
        return seen

    def line(self, version):
        """A version and those that it is built on."""
        while version:
            yield version
            version = next(iter(self.parent[version]), None)

    def check_files(self):
        """What holds at any time, also after a kill."""
        for ref, version in self.found().items():
            if self.is_expired(version):
                raise Wrong(f"{ref} holds {version}, which is expired")
            for name in ("version.json", "ducklake.duckdb", "files.json", "dataset.json"):
                if not (self.folder / "versions" / version / name).exists():
                    raise Wrong(f"{ref} holds {version}, which has no {name}")
        for version in self.reached():
            if not self.is_there(version):
                raise Wrong(f"the log ends before {version}")
        for version in self.named:
            if self.is_there(version) and not self.is_expired(version):
                self.check_version(version)

    def check_version(self, version):
        for key in self.named[version]:
            try:
                size = os.path.getsize(self.folder / key)
            except FileNotFoundError:
                raise Wrong(f"{version} names {key}, which is gone") from None
            if size != self.sizes[key]:
                raise Wrong(f"{key} has {size} bytes, not {self.sizes[key]}")

    def check(self):
        self.check_files()
        if self.found() != self.refs:
            raise Wrong(f"refs are {self.found()}, not {self.refs}")
        told = json.loads((self.folder / "refs.json").read_text())["refs"]
        if told != self.refs:
            raise Wrong(f"refs.json has {told}, not {self.refs}")

    def expect(self, status, allowed):
        if status not in allowed:
            raise Wrong(f"status {status}, not one of {sorted(allowed)}")

    def live(self, steps):
        self.start()
        for step in range(steps):
            self.trace = []
            action = self.random.choices(list(self.ACTIONS), weights=list(self.ACTIONS.values()))[0]
            try:
                action(self)
                self.check()
            except Wrong as wrong:
                print(f"step {step}, {action.__name__}: {wrong}")
                for line in self.trace:
                    print("   ", *line)
                return False
        if self.run("fdl", "fsck", self.url) != 0:
            print("fsck:", self.out)
            return False
        return True

    def start(self):
        """The repository has one version, which the test has made."""
        self.refs = {"refs/heads/main": self.held("refs/heads/main")}
        version = self.refs["refs/heads/main"]
        self.named[version] = files_json(self.folder / "versions" / version / "files.json")
        self.parent[version] = []
        self.sizes |= {key: os.path.getsize(self.folder / key) for key in self.named[version]}
        self.writers = [Writer(self, "one"), Writer(self, "two")]
        for writer in self.writers:
            writer.checkout()

    ACTIONS = {commit: 8, push: 6, fetch: 1, branch: 2, tag: 2, revert: 1, time_passes: 2, expire: 2, gc: 2}


def age(path):
    """How old a file is, in days."""
    return (time.time() - path.stat().st_mtime) / DAY


def footer(path):
    """The length of a Parquet file's footer, which stands before the last four bytes."""
    return int.from_bytes(path.read_bytes()[-8:-4], "little")


def files_json(path):
    """The keys of the files that a version names. A push that was cut off has left some that the model does not know."""
    return {"data/" + file["path"] for file in json.loads(path.read_text())["files"]}


def work_ref(work, ref):
    path = work / ref
    return path.read_text().strip() if path.exists() else None


def version_json(work, version, folder):
    for place in (work, folder):
        path = place / "versions" / version / "version.json"
        if path.exists():
            return json.loads(path.read_text())
    raise Wrong(f"version {version} is nowhere")


def main():
    folder, url, pool, seed, steps = sys.argv[1:]
    sys.exit(0 if Model(folder, url, pool, int(seed)).live(int(steps)) else 1)


if __name__ == "__main__":
    main()
