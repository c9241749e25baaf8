"""Runs SQL in a transaction, makes the file held, and commits when the file release is there."""

import os
import sys
import time

import duck


def main():
    attach, sql = sys.argv[1:]
    connection = duck.connect()
    connection.execute(attach)
    connection.execute("BEGIN")
    connection.execute(sql)
    open("held", "x").close()
    deadline = time.monotonic() + 60
    while not os.path.exists("release"):
        if time.monotonic() > deadline:
            sys.exit("hold: nobody let go")
        time.sleep(0.05)
    connection.execute("COMMIT")


if __name__ == "__main__":
    main()
