#!/usr/bin/env python3
"""Plants one fault after the other in belfry.js, and tells which cases find it; each must be found.

    Clients/cases/planted.py            with the Python environment of broker.py
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent
LIBRARY = FOLDER.parent.parent / "Web" / "belfry.js"

FAULTS = {
    "after a restart nothing is asked for": (
        "this.#forgetNumbers(registration);\n    // A", "// A"),
    "after a restart no gap is told": (
        "this.#tellUnknown(registration);\n  }\n\n  // Going", "}\n\n  // Going"),
    "a silent line is not asked": ("else this.#ping(this.#pingInterval / 2);", ""),
    "who was taken over comes back": (
        "[1008, 4001, 4002, 4003]", "[1008, 4002, 4003]"),
    "an observer that came too late stays": (
        "return void this.#takeBack(registration).catch(() => {});", "return;"),
    "what comes again is told again": (
        'seq <= position || "change" in', '"change" in'),
    "a refused opening is tried again": (
        "if (verdict.isFinal) return this.#finish(1008, error);", ""),
    "a busy broker is asked at once": (
        "if (verdict.isBusy) this.#failures = Math.max(this.#failures, 3);", ""),
    "Retry-After is not heeded": ("?? verdict.least ??", "??"),
    "whoever answers refuses": (
        "throw stranger(status, named, retryAfter(false));\n}",
        "throw refusal({ type: problemType, status });\n}"),
    "any problem document refuses": ("content.type.startsWith(problemType);", "true;"),
    "any answer is a receipt": ("!hasShape(result, shapes[method])", "false"),
    "a content type says nothing": (
        'response.ok && type === "application/json" && ', "response.ok && "),
    "a close code of a stranger counts": (
        "if (isWelcomed) this.#ended(code, error);", "if (true) this.#ended(code, error);"),
    "a redirect is followed": ('redirect: "manual", ', ""),
    "a bad frame comes for ever": ("if (this.#badFrames < badFrameLimit) {", "if (true) {"),
    "a position without data is passed over": (
        "params: { observer: id, seq } });\n      }\n      return;",
        "params: {} });\n      }\n      return;"),
    "an empty position counts": (
        "if (epoch !== null) stream.position = Math.max(stream.position, seq);",
        "stream.position = seq;"),
    "a stream has no condition": ("where: JSON.stringify(where), since", "since"),
    "a stream begins at the present": ("where), since, last, lastEach,", "where),"),
    "a beginning in the past is none": ("seq - 1)) } : start);", "seq - 1)) } : {});"),
    "a past that was cut is passed over": ("registration.joined < this.#highestSeq", "true"),
    "the last ones are those of a later time": (
        "registration.start = { since: start.since ?? since };", ""),
    "several names are any name": ("each.name ?? each.names", "each.name"),
    "an event that is no JSON ends the stream": (
        "const params = jsonOf(fields.data);", "const params = JSON.parse(fields.data);"),
    "a path takes steps": ('if (!["", ".", ".."].includes(String(text))) return', "return"),
    "a lease is forgotten": (
        "...[...this.#values].map(", "...[].map("),
    "a lease overwrites what others set": (
        "entry.etag === null ? [{}] : [{ ifMatch: entry.etag }, { ifNoneMatch: \"*\" }];", "[{}];"),
    "a removed lease comes back": (
        "if (this.#ends(each, method, params)) this.#values.delete(key);", ""),
    "a farewell is forgotten": (
        "if (params.onDisconnect) this.#lasting.posted(receipt.id, params);", ""),
    "a merge patch takes the place of a value": (
        'if (kind === "merge") value = merged(registration.value, changed);', ""),
    "a call has no time limit": ("timer = after(time, () => giveUp(makeError()));", ""),
    "a frame that is no object is passed over": (
        "if (!isObject(frame)) return this.#readBad();", "if (!isObject(frame)) return;"),
    "an ask of unknown outcome is not repeated": ("this.#again(make, isUnsure)", "make()"),
    "an ask that nobody answers is repeated": ("this.#again(make, isUnsure)", "this.#again(make)"),
    "an expired token is shown again": (
        "const mayHelp = canRenew && (status", "const mayHelp = (status"),
}


def failed_cases(*runner):
    """The cases that fail with this runner."""
    played = subprocess.run(
        (sys.executable, str(FOLDER / "broker.py"), "--at-once", "30", "--", *runner),
        capture_output=True, text=True)
    return [name for name in re.findall(r"(?m)^FAIL ([\w-]+):", played.stderr) if name != "cases"]


def main():
    text = LIBRARY.read_text()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "belfry.mjs"
        node = ("node", "--experimental-websocket", "--no-warnings", str(FOLDER / "run.mjs"))
        for fault, (right, wrong) in FAULTS.items():
            if text.count(right) != 1:
                raise SystemExit(f"{fault}: its place is not in belfry.js once")
            library.write_text(text.replace(right, wrong))
            found = failed_cases(*node, str(library))
            missed += not found
            print(f"{fault:44} {' '.join(found) or 'NOT FOUND'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
