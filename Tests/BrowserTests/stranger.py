"""What a stranger does once there is a broker: the page of README.md in a browser, and its post by curl.

    python3 Tests/BrowserTests/stranger.py --url http://localhost:8080     as Scripts/stranger does
"""

import http.server
import pathlib
import re
import subprocess
import tempfile
import threading

from playwright.sync_api import expect

import support
from support import check, eventually

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


class Pages(http.server.SimpleHTTPRequestHandler):
    """The folder of a stranger, as `python3 -m http.server` serves it."""

    def log_message(self, *_):
        pass


def served(folder):
    def handler(*request):
        return Pages(*request, directory=folder)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://localhost:{server.server_port}"


def main():
    options = support.arguments(__doc__)
    readme = README.read_text()
    [page] = re.findall(r"```html\n(.*?)```", readme, re.DOTALL)
    post = re.search(r"^\$ (curl -d .*/ButtonChange.*)$", readme, re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder, support.browser(options) as running:
        (pathlib.Path(folder) / "page.html").write_text(page)
        shown = running.new_page()
        shown.goto(f"{served(folder)}/page.html")
        path = f"{options.url}/v1/observers?name=ButtonChange"
        eventually(lambda: support.request(path)[1]["observers"], "the page of README.md observes")
        subprocess.run(("bash", "-c", post), check=True, capture_output=True)
        expect(shown.locator("body")).to_contain_text('{"title":"7"}')
        check(True, "the page shows what curl posts")


if __name__ == "__main__":
    main()
