"""An S3 for tests: moto on a free port of the loopback interface, in one process with nobody else's data.

usage: s3server.py PORT-FILE [CERTIFICATE KEY]

With a certificate it speaks TLS. The port is written to PORT-FILE once requests are answered. Where S3_PRELOAD names a folder, its files are the objects of
the bucket lakes. The server ends with the process that started it.
"""

import os
import pathlib
import sys
import threading
import time

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server


class OneWriterAtATime:
    """Moto looks at a condition and then writes, so of many at once two may win now and then; here they take turns."""

    def __init__(self, application):
        self.application = application
        self.lock = threading.Lock()

    def __call__(self, environ, start_response):
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return self.application(environ, start_response)
        with self.lock:
            return list(self.application(environ, start_response))


class Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_args):
        pass


def preload(folder):
    """Puts the files of a folder into the bucket, without a request for each."""
    backend = s3_backends["123456789012"]["aws"]
    backend.create_bucket("lakes", "us-east-1")
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and not path.name.startswith(".fdl-"):
            backend.put_object("lakes", str(path.relative_to(folder)), path.read_bytes())


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def main():
    port_file = pathlib.Path(sys.argv[1])
    if "S3_PRELOAD" in os.environ:
        preload(os.environ["S3_PRELOAD"])
    application = OneWriterAtATime(DomainDispatcherApplication(create_backend_app))
    tls = tuple(sys.argv[2:4]) or None
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Handler, ssl_context=tls)
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    ready = port_file.with_suffix(".new")
    ready.write_text(f"{server.port}\n")
    ready.rename(port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
