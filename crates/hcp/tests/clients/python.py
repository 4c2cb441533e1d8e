"""Drives `hcp mcp` with the official Python SDK, as dev/clients sets it up.

    python.py HCP MARK      HCP_HOME names an installation with the pack `tool`
"""

import json
import os
import pathlib
import sys

import anyio
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

HCP, MARK = sys.argv[1], pathlib.Path(sys.argv[2])
SERVER = StdioServerParameters(
    command=HCP, args=["mcp"], env={"HCP_HOME": os.environ["HCP_HOME"]}
)


def check(what, holds):
    if not holds:
        raise SystemExit(f"python: {what}")


def alive(mark):
    commands = []
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(process.read_bytes())
        except OSError:
            pass
    return any(str(mark).encode() in command and b"\0sleep\0" in command for command in commands)


async def eventually(what, holds):
    for _ in range(500):
        if holds():
            return
        await anyio.sleep(0.01)
    check(what, False)


async def results(session):
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    check("the tools", set(tools) == {"tool__say", "tool__sleep", "tool__wipe"})
    said = await session.call_tool("tool__say", {"text": '{"n": 9007199254740993}'})
    check("a result", said.structured_content["result"] == {"n": 9007199254740993})
    check("the text", json.loads(said.content[0].text) == said.structured_content)
    refused = await session.call_tool("tool__wipe", {})
    check("a refusal", refused.is_error)
    check("its text", refused.structured_content["error"] == "confirm required")
    wrong = await session.call_tool("tool__say", {"txet": "x"})
    check("wrong arguments", wrong.structured_content["error"].startswith("args: "))


async def progress(session):
    seen = []

    async def tell(done, total, message):
        seen.append(done)

    arguments = {"seconds": "1.3", "mark": str(MARK)}
    done = await session.call_tool("tool__sleep", arguments, progress_callback=tell)
    check("a long call", done.structured_content["result"] == "slept")
    check("its progress", len(seen) >= 1)


async def cancel(session):
    async with anyio.create_task_group() as group:
        arguments = {"seconds": "50", "mark": str(MARK)}
        group.start_soon(session.call_tool, "tool__sleep", arguments)
        await eventually("the sleep", lambda: MARK.exists() and alive(MARK))
        group.cancel_scope.cancel()
    await eventually("the end of a cancelled call", lambda: not alive(MARK))
    said = await session.call_tool("tool__say", {"text": "after"})
    check("a call after a cancelled one", said.structured_content["result"] == "after")


async def main():
    async with stdio_client(SERVER) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await results(session)
            await progress(session)
            await cancel(session)
    # The newest revision has no handshake: every request tells what the client is.
    async with Client(stdio_client(SERVER)) as client:
        await results(client)
    print("python: every check passed")


anyio.run(main)
