"""One of the S3 servers of t/other-servers, on a free port of the loopback interface.

usage: other-server.py PORT-FILE COMMAND...

The command is told to listen on port 0 and says in its output where it does; that port is written to PORT-FILE. The
server ends with the process that started it.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def main():
    port_file, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in child.stdout:
            print(line, end="", flush=True)
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if found and not port_file.exists():
                ready = port_file.with_suffix(".new")
                ready.write_text(f"{found[1]}\n")
                ready.rename(port_file)
    finally:
        child.kill()


if __name__ == "__main__":
    main()
