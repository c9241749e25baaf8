"""Prints what a lake says at each of its snapshots, as lines to be compared with those of another catalog.

    lake states CATALOG DATA   every table and view with its columns, rows, row ids and comments, and every macro
    lake files CATALOG DATA    the data and delete files of every table, as ducklake_list_files tells them

CATALOG is a frozen or a working catalog, DATA the folder that its paths are relative to.
"""

import sys

import duck


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def identifier(text):
    return '"' + text.replace('"', '""') + '"'


def attach(connection, catalog, data, snapshot=None):
    with open(catalog, "rb") as file:
        sqlite = file.read(6) == b"SQLite"
    options = [f"DATA_PATH {quoted(data)}", "OVERRIDE_DATA_PATH true"]
    options += ["READ_ONLY"] if snapshot is None else [f"SNAPSHOT_VERSION {snapshot}"]
    options += ["META_TYPE 'sqlite'"] if sqlite else []
    connection.execute(f"ATTACH {quoted('ducklake:' + catalog)} AS lake ({', '.join(options)})")


def snapshots(connection, catalog, data):
    attach(connection, catalog, data)
    found = duck.rows(connection, "SELECT snapshot_id FROM ducklake_snapshots('lake') ORDER BY snapshot_id")
    connection.execute("DETACH lake")
    for (snapshot,) in found:
        attach(connection, catalog, data, snapshot)
        yield snapshot
        connection.execute("DETACH lake")


def entries(connection, function, columns):
    """What duckdb_tables() and its like say of the lake."""
    order = ", ".join(str(n + 1) for n in range(len(columns)))
    return duck.rows(
        connection,
        f"SELECT {', '.join(columns)} FROM {function}() WHERE database_name = 'lake' AND NOT internal ORDER BY {order}",
    )


def say(*values):
    print(*map(duck.spelled, values), sep="\t")


def states(connection, catalog, data):
    for snapshot in snapshots(connection, catalog, data):
        say(snapshot, "snapshot")
        for schema, comment in entries(connection, "duckdb_schemas", ["schema_name", "comment"]):
            say(snapshot, "schema", schema, comment)
        for row in entries(
            connection,
            "duckdb_columns",
            ["schema_name", "table_name", "column_index", "column_name", "data_type", "is_nullable", "column_default", "comment"],
        ):
            say(snapshot, "column", *row)
        tables = entries(connection, "duckdb_tables", ["schema_name", "table_name", "comment"])
        views = entries(connection, "duckdb_views", ["schema_name", "view_name", "comment"])
        for kind, found, row_id in ("table", tables, "rowid, "), ("view", views, ""):
            for schema, name, comment in found:
                say(snapshot, kind, schema, name, comment)
                whole = f"SELECT {row_id}* FROM lake.{identifier(schema)}.{identifier(name)}"
                for row in sorted(duck.rows(connection, whole), key=lambda row: [(v is not None, v or "") for v in row]):
                    say(snapshot, "row", schema, name, *row)
        for row in entries(
            connection, "duckdb_functions", ["schema_name", "function_name", "parameters", "macro_definition", "comment"]
        ):
            say(snapshot, "macro", *row)


def files(connection, catalog, data):
    for snapshot in snapshots(connection, catalog, data):
        found = set()
        for schema, table, _ in entries(connection, "duckdb_tables", ["schema_name", "table_name", "comment"]):
            call = f"ducklake_list_files('lake', {quoted(table)}, schema => {quoted(schema)}, snapshot_version => {snapshot})"
            for path, size, delete, delete_size in duck.rows(
                connection,
                f"SELECT data_file, data_file_size_bytes, delete_file, delete_file_size_bytes FROM {call}",
            ):
                found.add((path.removeprefix(data), size, "data"))
                if delete is not None:
                    found.add((delete.removeprefix(data), delete_size, "delete"))
        for file in sorted(found):
            say(snapshot, *file)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("states", "files"):
        sys.exit(__doc__)
    what, catalog, data = sys.argv[1:]
    connection = duck.connect()
    connection.execute("SET TimeZone = 'UTC'")
    {"states": states, "files": files}[what](connection, catalog, data.rstrip("/") + "/")


if __name__ == "__main__":
    main()
