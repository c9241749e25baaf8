"""Runs SQL from the argument, or from standard input, in DuckDB with the ducklake, sqlite_scanner and httpfs extensions.

The extensions come from wheels and are loaded by their paths; nothing is installed or fetched. A row is a line, values
are separated by TAB in DuckDB's own spelling, NULL is \\N, and backslash, TAB and newline are escaped.
"""

import importlib
import pathlib
import sys

import duckdb


def connect():
    connection = duckdb.connect(
        config={"autoload_known_extensions": "false", "autoinstall_known_extensions": "false"}
    )
    for name in ("sqlite_scanner", "ducklake", "httpfs"):
        package = pathlib.Path(importlib.import_module(f"duckdb_extension_{name}").__file__).parent
        (path,) = package.glob(f"extensions/*/{name}.duckdb_extension")
        connection.execute("LOAD '" + str(path).replace("'", "''") + "'")
    return connection


def spelled(value):
    if value is None:
        return "\\N"
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def rows(connection, sql):
    """The rows of a query as lists of text."""
    return connection.sql(sql).project("COLUMNS(*)::VARCHAR").fetchall()


def main():
    sql = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
    connection = connect()
    try:
        for statement in connection.extract_statements(sql):
            if statement.type == duckdb.StatementType.SELECT:
                for row in rows(connection, statement.query):
                    print(*map(spelled, row), sep="\t")
            else:
                connection.execute(statement)
    except duckdb.Error as error:
        sys.exit(f"duck: {error}")


if __name__ == "__main__":
    main()
