#!/usr/bin/env python3
"""Registers an observer over WebSocket, posts with curl, and checks what arrives.

    post_and_observe.py HOST:PORT      needs `websockets` from PyPI, and curl

It speaks to any running broker that lets anonymous callers post and observe.
"""
import asyncio
import json
import subprocess
import sys

import websockets


async def next_frame(socket):
    return json.loads(await asyncio.wait_for(socket.recv(), 10))


async def call(socket, number, method, params):
    """Calls a method; returns its result and drops the notifications before it."""
    await socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    while True:
        frame = await next_frame(socket)
        if frame.get("id") == number and "method" not in frame:
            assert "result" in frame, f"{method} was refused: {frame}"
            return frame["result"]


async def main(address):
    url = f"ws://{address}/v1/ws"
    async with websockets.connect(url, subprotocols=["belfry.v1"]) as socket:
        assert socket.subprotocol == "belfry.v1", f"subprotocol is {socket.subprotocol}"
        welcome = await next_frame(socket)
        assert welcome["method"] == "belfry.welcome", f"first frame is {welcome}"
        observer = await call(socket, 1, "addObserver", {"name": "ButtonChange", "selector": "input:"})

        post = await asyncio.create_subprocess_exec(
            "curl", "--silent", "--show-error", "--fail-with-body", "--max-time", "10",
            "--data", '{"title":"7"}',
            f"http://{address}/v1/channels/ButtonChange?object=calculator",
            stdout=subprocess.PIPE)
        answer, _ = await post.communicate()
        assert post.returncode == 0, f"curl ended with {post.returncode}: {answer.decode()}"
        receipt = json.loads(answer)
        assert receipt["matched"] == 1 and receipt["delivered"] == 1, f"receipt is {receipt}"

        delivery = await next_frame(socket)
        notification = delivery["params"]
        assert delivery["method"] == "input:", f"selector is {delivery['method']}"
        assert notification["id"] == receipt["id"], f"{notification['id']} is not {receipt['id']}"
        assert notification["object"] == "calculator", f"object is {notification['object']}"
        assert notification["userInfo"] == {"title": "7"}, f"userInfo is {notification['userInfo']}"

        await call(socket, 2, "removeObserver", {"token": observer["token"]})
    print("posted with curl, observed over WebSocket: 1 passed, 0 failed")


asyncio.run(main(sys.argv[1]))
