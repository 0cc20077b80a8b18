"""Attacks by JSON."""

from .clients import ask, expect, support


def many_keys(port):
    keys = b",".join(b'"%d":0' % n for n in range(100_000))
    statuses = set()
    for _ in range(10):
        statuses.add(ask(port, b"{%s}" % keys))
        statuses.add(ask(port, b'{"name":"Keys","userInfo":{%s}}' % keys))
        statuses.add(ask(port, b"{%s}" % keys[:260_000].rpartition(b",")[0], "/v1/channels/Keys"))
    expect(statuses == {"422", "413", "200"}, f"statuses {statuses}")
    return "/".join(sorted(statuses))


def many_keys_by_call(port):
    client = support.WebSocketClient(port)
    keys = b",".join(b'"%d":0' % n for n in range(80_000))
    for number in range(10):
        client.send_text(b'{"jsonrpc":"2.0","id":%d,"method":"post","params":{%s}}' % (number, keys))
    errors = 0
    client.socket.settimeout(10)
    while errors < 10:
        errors += b'"error"' in client.next_frame()[1]
    client.close()
    return "10 errors"


def nesting(port):
    deep = b"[" * 200_000
    statuses = {
        ask(port, b'{"a":' + deep, "/v1/channels/Deep"), ask(port, deep),
        ask(port, b'{"name":"Deep","userInfo":{"a":' + deep),
    }
    expect(statuses <= {"400", "422"}, f"statuses {statuses}")
    return "/".join(sorted(statuses))


ATTACKS = [many_keys, many_keys_by_call, nesting]
