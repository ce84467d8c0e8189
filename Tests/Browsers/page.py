"""The page that captures, and the server that it comes from: it does what it is told, and tells what it found."""
import json, queue, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from checks import wait_until

PAGE = Path(__file__).resolve().parent / "page.html"
# SMPTE bars at 75 %, as a screen shows them.
BARS = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191)]


def shows_bars(bars):
    """Whether colours are those of the bars; programs convert them by one matrix or another."""
    return bool(bars) and all(abs(a - b) <= 45 for seen, bar in zip(bars, BARS) for a, b in zip(seen, bar))


class Page:
    """As a context manager."""

    def __enter__(self):
        self.told, self.orders, page = [], queue.Queue(), self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/next":
                    self.answer(json.dumps(page.orders.get()).encode(), "application/json")
                else:
                    self.answer(PAGE.read_bytes() if self.path == "/" else b"", "text/html")

            def do_POST(self):
                page.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.answer(b"", "text/plain")

            def answer(self, body, kind):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def order(self, words, **more):
        """Has the page do something, and begins a new list of what it tells."""
        self.told.clear()
        self.orders.put({"do": words, **more})

    def tells(self, holds, seconds=60):
        """The first thing told that is so; None if nothing is in time."""
        return wait_until(lambda: next((each for each in list(self.told) if holds(each)), None), seconds)

    def event(self, *names, seconds=60):
        return self.tells(lambda each: each["event"] in names, seconds)
