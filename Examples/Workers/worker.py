#!/usr/bin/env python3
"""Does jobs until it is ended, as `worker` does; a job may run twice, and its answer is the same.

    Examples/Workers/worker.py [BROKER]
"""

import asyncio
import os
import sys

from belfry import NotificationCenter

BROKER = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"


async def square(ask):
    await asyncio.sleep(float(os.environ.get("SECONDS_OF_WORK", "0.2")))
    return ask.user_info["n"] ** 2


async def main():
    async with NotificationCenter(BROKER) as center:
        worker = await center.work("jobs", "square", square)
        await worker.until_removed()


asyncio.run(main())
