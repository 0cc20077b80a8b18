"""What Scripts/contract writes: the paths of one center in openapi.yaml, and openapi.json.

Every path below /v1/ that has the operation of a center exists again below /v1/centers/{center}/. The
generators of clients want each path in full, so they stand in the file: one line a path, made of
the path without the prefix. BROKER has those that are the broker's alone, or that say another thing
of one center, and are written for it by hand.
"""

import json
import sys

import yaml

MARK = "  # Scripts/contract makes the rest of the paths, those of one center, of the ones above.\n"
END = "components:\n"
PREFIX = "/v1/centers/{center}"
BROKER = {
    "/v1/tickets", "/v1/backup", "/v1/centers", "/v1/me", "/v1/overview", "/v1/cluster",
    "/v1/cluster/upgrade", "/v1/cluster/apply-config", "/v1/cluster/recover",
}
CENTER = {"$ref": "#/components/parameters/Center"}
NOT_FOUND = {"$ref": "#/components/responses/NotFound"}


def in_center(path, links):
    """The path item of one center that belongs to this one of the center `default`."""
    made = {"parameters": [CENTER, *path.get("parameters", [])]}
    for method, operation in path.items():
        if method != "parameters":
            made[method] = operation_in_center(operation, links)
    return made


def operation_in_center(operation, links):
    made = dict(operation)
    made["operationId"] += "InCenter"
    made["summary"] = made["summary"].removesuffix(".") + " (in one center)."
    if "description" in made:
        made["description"] = "As without the prefix."
    # A look does not make a center.
    responses = dict(operation["responses"])
    if "Looking inside" in operation["tags"]:
        responses.setdefault("404", NOT_FOUND)
    made["responses"] = {
        status: response_in_center(responses[status], links) for status in sorted(responses)
    }
    return made


def response_in_center(response, links):
    if "links" not in response:
        return response
    made = {}
    for name, reference in response["links"].items():
        link = links[reference["$ref"].rsplit("/", 1)[1]]
        if "path.center" not in link["parameters"]:
            parameters = {**link["parameters"], "path.center": "$request.path.center"}
            made[name] = {
                **link, "operationId": link["operationId"] + "InCenter", "parameters": parameters
            }
    return {**response, "links": made}


def lines_of(paths, links):
    """One line a path: JSON is YAML."""
    for name, path in paths.items():
        rest = name.removeprefix("/v1")
        if rest != name and name not in BROKER and not name.startswith(PREFIX):
            yield f"  {PREFIX}{rest}: {compact(in_center(path, links))}\n"


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def as_json(contract):
    """The whole as JSON, one line a path and a component, so that a change is told by its line."""
    members = []
    for key, value in contract.items():
        if key == "paths":
            text = block(value, "  ")
        elif key == "components":
            parts = [f'  "{part}": {block(entries, "    ")}' for part, entries in value.items()]
            text = "{\n" + ",\n".join(parts) + "\n}"
        else:
            text = compact(value)
        members.append(f'"{key}": {text}')
    return "{\n" + ",\n".join(members) + "\n}\n"


def block(entries, indentation):
    rows = [f"{indentation}{compact(key)}: {compact(value)}" for key, value in entries.items()]
    return "{\n" + ",\n".join(rows) + "\n" + indentation[2:] + "}"


def main():
    with open("openapi.yaml", encoding="utf-8") as file:
        text = file.read()
    head, rest = text.split(MARK, 1)
    tail = rest[rest.index(END):]
    written = yaml.safe_load(head + tail)
    made = head + MARK + "".join(lines_of(written["paths"], written["components"]["links"])) + tail
    wanted = {"openapi.yaml": made, "openapi.json": as_json(yaml.safe_load(made))}
    stale = []
    for name, content in wanted.items():
        try:
            with open(name, encoding="utf-8") as file:
                is_stale = file.read() != content
        except FileNotFoundError:
            is_stale = True
        if is_stale:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                with open(name, "w", encoding="utf-8") as file:
                    file.write(content)
    if "--check" in sys.argv[1:] and stale:
        sys.exit(f"error: {' and '.join(stale)} is not as made of openapi.yaml: run Scripts/contract")
    print("written: " + ", ".join(stale) if stale else "openapi.yaml and openapi.json are as made")


main()
