"""A server as the documentation of fastmcp would have it: one tool that runs a command."""

import asyncio

from fastmcp import FastMCP

server = FastMCP("peer")


@server.tool
async def run(argv: list[str]) -> str:
    """Run a command."""
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return output.decode()


server.run(show_banner=False)
