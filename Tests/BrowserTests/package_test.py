"""The folder Web as an npm package: what is made of it, what is in it, its types, and programs of Node that have it."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import support
from support import check

FOLDER = pathlib.Path(__file__).parent
WEB = FOLDER.parent.parent / "Web"

PROGRAM = """
import { NotificationCenter } from "@belfry/client";

const [url, isPassed] = process.argv.slice(2);
const { WebSocket } = globalThis;
if (isPassed) delete globalThis.WebSocket;
const center = new NotificationCenter(url, isPassed ? { WebSocket } : {});
const observer = await center.addObserver("Node");
await center.setValue("node", "a", 1);
const { value } = await center.value("node", "a");
await center.post("Node", { userInfo: { value } });
for await (const { userInfo } of observer) {
  console.log(JSON.stringify([center.transport, userInfo]));
  break;
}
center.close();
"""


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def test_made():
    run(str(WEB.parent / "Scripts" / "library"), "--check")
    check(True, "belfry.min.js is made of belfry.js")


def install(folder):
    """Packs the folder, and installs it into an empty one, without a registry."""
    [packed] = json.loads(run("npm", "pack", "--json", "--pack-destination", folder, cwd=WEB))
    files = sorted(file["path"] for file in packed["files"])
    check(files == ["belfry.d.ts", "belfry.js", "package.json"], "the package has two files", files)
    (pathlib.Path(folder) / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund",
        str(pathlib.Path(folder) / packed["filename"]), cwd=folder)
    check(True, "it is installed into an empty folder")


def test_types(folder):
    shutil.copy(FOLDER / "package" / "sample.ts", folder)
    run("tsc", "--strict", "--noEmit", "--target", "es2022", "--module", "node16",
        "--moduleResolution", "node16", "--lib", "es2022,dom,dom.iterable", "sample.ts", cwd=folder)
    check(True, "its types hold, strictly")


def test_node(folder, url):
    major = int(run("node", "--version").removeprefix("v").split(".")[0])
    if major < 20:
        print(f"skip programs of Node: it is {major}, and the package asks for 20")
        return
    (pathlib.Path(folder) / "program.js").write_text(PROGRAM)
    options = ["--experimental-websocket"] if major < 22 else []

    def told(*words):
        return json.loads(run("node", "--no-warnings", *words, cwd=folder))

    found = told(*options, "program.js", url)
    check(found == ["websocket", {"value": 1}], "a program of Node observes, and ends", found)
    found = told(*options, "program.js", url, "passed")
    check(found == ["websocket", {"value": 1}], "also with a WebSocket that it passes", found)
    without = [] if major < 22 else ["--no-experimental-websocket"]
    found = told(*without, "program.js", url)
    check(found == ["events", {"value": 1}], "and without any, over event streams", found)


def main():
    options = support.arguments(__doc__)
    os.environ["NO_UPDATE_NOTIFIER"] = "1"
    test_made()
    with tempfile.TemporaryDirectory() as folder, support.broker(options) as url:
        install(folder)
        test_types(folder)
        test_node(folder, url)


if __name__ == "__main__":
    main()
