"""A host for tests: the protocol of fdl-http.md over a folder of repositories, with nothing checked but conditions.

usage: httphost.py ROOT PORT-FILE SETTINGS LOG

It shows what any host may answer, as fdl's own host does not on demand. A line of the file SETTINGS, which is read
anew for each request, is

    batch              POST ?batch is answered with URLs below /straight/
    batch-through      ... with 413 for each file
    batch-PATCH        ... with that method
    batch-ended        ... with a URL that has ended, the first time a key is asked about
    batch-away URL     ... with URLs that begin so
    batch-JSON TEXT    ... with this text
    token TOKEN        who does not bear it is answered 401
    basic USER:PASS    who does not bear that login is answered 401
    refs-denied        403 to whoever writes a ref, and 'wait for approval' as text
    refs-json-denied   403 to whoever writes refs.json
    refuse TEXT        409 to whoever writes a ref, with the text as JSON
    refuse-text TEXT   the same as plain text, a line for each '|'
    cache              a cache on the way knows refs of old, and asks the host only where it is told to
    full               413 to whoever sends a mebibyte or more, and the body is not read
    no-tags            answers without ETag
    away KEY URL       a redirect for what ends with the key
    page               what is not there is a page, with 200

A line of LOG is a request: method, path, status, and what it bore as Authorization.
"""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import re
import sys
import threading
import time
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def read_settings(self):
        text = self.server.settings.read_text(encoding="utf-8")
        self.settings = dict(line.partition(" ")[::2] for line in text.splitlines())

    def is_full(self):
        return "full" in self.settings and int(self.headers.get("Content-Length") or 0) >= 1 << 20

    def handle_expect_100(self):
        self.read_settings()
        return self.is_full() or super().handle_expect_100()

    def serve(self):
        self.read_settings()
        if self.is_full():
            self.close_connection = True
            return self.answer(413, {"Content-Type": "text/plain"}, b"no more than a mebibyte\n")
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, self.query = self.path.partition("?")
        self.key = urllib.parse.unquote(path).lstrip("/").removeprefix("straight/")
        self.file = self.server.root / self.key
        if not path.startswith("/straight/") and self.headers["Authorization"] != self.wanted():
            return self.answer(401, {"WWW-Authenticate": "Basic"})
        away = self.settings.get("away", "").split(" ")
        if self.key.endswith(away[0]) and away[0]:
            return self.answer(302, {"Location": away[1]})
        with self.server.lock:
            return getattr(self, self.command.lower())()

    def answer(self, status, headers=None, content=b""):
        with open(self.server.log, "a", encoding="utf-8") as log:
            print(self.command, self.path, status, self.headers["Authorization"] or "-", file=log)
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def wanted(self):
        """What the request must bear."""
        if "token" in self.settings:
            return f"Bearer {self.settings['token']}"
        if "basic" in self.settings:
            return "Basic " + base64.b64encode(self.settings["basic"].encode()).decode()
        return self.headers["Authorization"]

    def tag(self):
        return f'"{hashlib.sha256(self.file.read_bytes()).hexdigest()}"' if self.file.is_file() else None

    def holds(self):
        """Whether the condition of the request holds."""
        if self.headers["If-None-Match"] == "*" and self.tag():
            return False
        return self.headers["If-Match"] in (None, self.tag())

    def get(self):
        if "cache" in self.settings and "/refs/" in self.key and self.headers["Cache-Control"] != "no-cache":
            return self.answer(200, {}, b"01900000-0000-7000-8000-000000000000\n")
        if not self.file.is_file():
            if "page" in self.settings:
                return self.answer(200, {"Content-Type": "text/html"}, b"<html>Welcome</html>")
            return self.answer(404)
        if not self.holds():
            return self.answer(412)
        content = self.file.read_bytes()
        headers = {} if "no-tags" in self.settings else {"ETag": self.tag()}
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers["Range"] or "")
        if found:
            start, end = int(found[1]), min(int(found[2] or len(content)), len(content) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
            return self.answer(206, headers, content[start : end + 1])
        return self.answer(200, headers, content)

    head = get

    def put(self):
        if re.search(r"/refs/|/HEAD$", self.key):
            if "refs-denied" in self.settings:
                return self.answer(403, {"Content-Type": "text/plain"}, b"wait for approval\n")
            if "refuse" in self.settings:
                content = json.dumps({"reasons": self.settings["refuse"].split("|")}).encode()
                return self.answer(409, {"Content-Type": "application/json"}, content)
            if "refuse-text" in self.settings:
                content = self.settings["refuse-text"].replace("|", "\n").encode()
                return self.answer(409, {"Content-Type": "text/plain; charset=utf-8"}, content)
        if self.key.endswith("/refs.json") and "refs-json-denied" in self.settings:
            return self.answer(403)
        if not self.holds():
            return self.answer(412)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(self.body)
        return self.answer(201)

    patch = put

    def delete(self):
        if not self.file.is_file():
            return self.answer(404)
        if not self.holds():
            return self.answer(412)
        self.file.unlink()
        return self.answer(204)

    def post(self):
        kind = next((name for name in self.settings if name.startswith("batch")), None)
        if self.query != "batch" or not kind:
            return self.answer(501)
        if kind == "batch-JSON":
            return self.answer(200, {}, self.settings[kind].encode())
        files = []
        for asked in json.loads(self.body)["files"]:
            key, file = asked["key"], self.file / asked["key"]
            base = self.settings[kind] if kind == "batch-away" else f"http://{self.headers['Host']}/straight"
            upload = {"url": f"{base}/{self.key}{key}", "headers": {"If-None-Match": "*", "X-Signed": "yes"}}
            ended = kind == "batch-ended" and key not in self.server.asked
            self.server.asked.add(key)
            upload["expires_at"] = time.strftime("%FT%TZ", time.gmtime(time.time() + (-60 if ended else 900)))
            if kind == "batch-PATCH":
                upload["method"] = "PATCH"
            if file.is_file():
                files.append({"key": key, "exists": True})
            elif kind == "batch-through":
                files.append({"key": key, "error": {"code": 413, "message": "through the host"}})
            else:
                files.append({"key": key, "upload": upload})
        return self.answer(200, {"Content-Type": "application/json"}, json.dumps({"files": files}).encode())

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
    server.root = pathlib.Path(sys.argv[1])
    server.settings = pathlib.Path(sys.argv[3])
    server.log = sys.argv[4]
    server.lock = threading.Lock()
    server.asked = set()
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    ready = pathlib.Path(sys.argv[2]).with_suffix(".new")
    ready.write_text(f"{server.server_port}\n", encoding="utf-8")
    ready.rename(sys.argv[2])
    server.serve_forever()


if __name__ == "__main__":
    main()
