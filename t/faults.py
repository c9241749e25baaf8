"""A proxy that stands before a store and does wrong when it is told to.

usage: faults.py UPSTREAM-PORT PORT-FILE RULES LOG

A line of the file RULES is `N FAULT METHOD PATTERN`: the fault befalls the n-th request of that method whose path
matches the pattern, or all of them where N is `*`. The file is read anew before each request; whenever it has changed,
requests are counted from one again. A line of LOG is a request: its method and path, and the fault that befell it.

What happens to the request, and then to its answer:

    drop-before  the connection ends before the store sees the request
    late-put     the same, and the store does its work only when the next such request has come
    overtaken    another writer's object takes the place, then the connection ends
    replaced     the store has done its work, then the content of the file RULES.other takes its place
    meanwhile    the store has done its work, then the program RULES.meanwhile runs to its end, then the answer comes
    drop-after   the store has done its work, then the connection ends
    403 404 409 412 413 429 500 501 503 507   the store is not asked
    500-after    the store has done its work
    slow-down    503 with Retry-After: 1
    never        503 with Retry-After: 86400
    cut          half of the body, then the connection ends
    short        half of the body, as if it were the whole
    hang         nothing moves any more
    redirect     307 to another path
    elsewhere    301 PermanentRedirect, with the region eu-central-1
    skewed       403 RequestTimeTooSkewed, the clock two hours on
    error-200    200, and an error as its body
    late         Last-Modified two hours on
    no-token     a list that goes on, without its continuation token
    no-next      a list that goes on, as if this were all of it
    one-page     a list that is not cut into pages
    blind        conditions are taken out of the request
    whole        the whole object, whatever part is asked for
    unstamped    metadata of the writer's own is left out
"""

import email.utils
import http.client
import http.server
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}
CODES = {
    "403": "AccessDenied",
    "404": "NotHere",
    "409": "ConditionalRequestConflict",
    "412": "PreconditionFailed",
    "413": "EntityTooLarge",
    "429": "TooManyRequests",
    "500": "InternalError",
    "501": "NotImplemented",
    "503": "SlowDown",
    "507": "InsufficientStorage",
}


def document(code):
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>as told</Message></Error>".encode()


class Rules:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.text = None
        self.lock = threading.Lock()

    def fault(self, method, path):
        with self.lock:
            text = self.path.read_text() if self.path.exists() else ""
            if text != self.text:
                self.text = text
                self.counts = {}
            found = None
            for line in text.splitlines():
                number, fault, wanted, pattern = line.split(" ", 3)
                if wanted not in (method, "*") or not re.search(pattern, path):
                    continue
                self.counts[line] = self.counts.get(line, 0) + 1
                if number in ("*", str(self.counts[line])):
                    found = found or fault
        return found


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.rules.fault(self.command, self.path)
        with self.server.log_lock, open(self.server.log, "a", encoding="utf-8") as log:
            print(self.command, self.path, fault or "-", *self.headers.get_all("Expect", []), file=log)
        delayed = self.server.delayed.pop((self.command, self.path), None)
        if delayed:
            self.ask(*delayed)
        if fault == "late-put":
            self.server.delayed[self.command, self.path] = body, fault
        if fault in ("drop-before", "late-put"):
            return self.hang_up()
        if fault == "overtaken":
            self.put(b"another writer's\n")
            return self.hang_up()
        if fault == "hang":
            time.sleep(30)
            return self.hang_up()
        if fault in CODES:
            return self.answer(int(fault), [], document(CODES[fault]))
        if fault in ("slow-down", "never"):
            return self.answer(503, [("Retry-After", "1" if fault == "slow-down" else "86400")], document("SlowDown"))
        if fault == "redirect":
            return self.answer(307, [("Location", f"http://{self.headers['Host']}/elsewhere/x")], b"")
        if fault == "elsewhere":
            return self.answer(301, [("x-amz-bucket-region", "eu-central-1")], document("PermanentRedirect"))
        if fault == "error-200":
            return self.answer(200, [], document("InternalError"))
        if fault == "skewed":
            return self.answer(403, [], document("RequestTimeTooSkewed"), time.time() + 7200)
        status, headers, content = self.ask(body, fault)
        if fault == "replaced":
            self.put(pathlib.Path(f"{self.server.rules.path}.other").read_bytes())
        if fault == "meanwhile":
            subprocess.run([f"{self.server.rules.path}.meanwhile"], check=False)
        if fault == "drop-after":
            return self.hang_up()
        if fault == "500-after":
            return self.answer(500, [], document("InternalError"))
        if fault == "no-token":
            content = re.sub(rb"<NextContinuationToken>[^<]*</NextContinuationToken>", b"", content)
        if fault == "no-next":
            content = content.replace(b"<IsTruncated>true<", b"<IsTruncated>false<")
        if fault == "unstamped":
            headers = [(name, value) for name, value in headers if not name.lower().startswith("x-amz-meta-")]
        if fault == "late":
            headers = [(name, value) for name, value in headers if name.lower() != "last-modified"]
            headers.append(("Last-Modified", email.utils.formatdate(time.time() + 7200, usegmt=True)))
        if fault == "short":
            content = content[: len(content) // 2]
        cut = len(content) // 2 if fault == "cut" else None
        return self.answer(status, headers, content, cut=cut)

    def put(self, content):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        signed = {"Authorization": self.headers["Authorization"]} if self.headers["Authorization"] else {}
        connection.request("PUT", self.path, content, signed)
        connection.getresponse().read()
        connection.close()

    def ask(self, body, fault):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        headers = dict(self.headers.items())
        if fault == "blind":
            headers = {name: value for name, value in headers.items() if not name.lower().startswith("if-")}
        if fault == "whole":
            headers.pop("range", None)
        path = re.sub(r"max-keys=\d+&?", "", self.path) if fault == "one-page" else self.path
        connection.request(self.command, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP | {"date", "server"}]
        if self.command == "HEAD":
            kept += [(name, value) for name, value in answer.getheaders() if name.lower() == "content-length"]
        connection.close()
        return answer.status, kept, content

    def answer(self, status, headers, content, date=None, cut=None):
        self.send_response_only(status)
        self.send_header("Date", email.utils.formatdate(date, usegmt=True))
        for name, value in headers:
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(content)))
        elif not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content if cut is None else content[:cut])
        if cut is not None:
            self.hang_up()

    def hang_up(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    do_GET = do_HEAD = do_PUT = do_PATCH = do_POST = do_DELETE = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_args):
        pass


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def main():
    server = Server(("127.0.0.1", 0), Handler)
    server.upstream = int(sys.argv[1])
    server.rules = Rules(sys.argv[3])
    server.log = sys.argv[4]
    server.log_lock = threading.Lock()
    server.delayed = {}
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    port_file = pathlib.Path(sys.argv[2])
    ready = port_file.with_suffix(".new")
    ready.write_text(f"{server.server_port}\n")
    ready.rename(port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
