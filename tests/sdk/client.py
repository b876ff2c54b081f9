"""Drives `sayso mcp serve` with the official Python SDK (`pip install mcp==2.3.0`), as an independent client.

    SAYSO=/path/to/sayso python3 tests/sdk/client.py

Both lifecycles are spoken: `initialize`, and `server/discover` without it.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

SAYSO = os.path.realpath(os.environ["SAYSO"])
DEADLINE = 20


class World:
    """A fresh home and a repository."""

    def __init__(self, root):
        self.root = Path(root)
        self.repo = self.root / "shop"
        for part in ("objects", "refs"):
            (self.repo / ".git" / part).mkdir(parents=True)
        (self.repo / ".git/HEAD").write_text("ref: refs/heads/main\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root), "SAYSO_HOME": str(self.root / "store")}

    def server(self, *options):
        return StdioServerParameters(command=SAYSO, args=["mcp", "serve", *options], env=self.env, cwd=str(self.repo))

    def run(self, *args):
        ran = subprocess.run([SAYSO, *args, "--json"], cwd=self.repo, env=self.env, capture_output=True, check=True)
        return json.loads(ran.stdout)["data"]

    def pending(self, count=1):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            found = self.run("list")["interactions"]
            if len(found) == count:
                return found
            time.sleep(0.02)
        sys.exit(f"no {count} questions within {DEADLINE} s")

    async def answer(self, *flags):
        def act():
            return self.run("answer", self.pending()[0]["id"], *flags)

        return await asyncio.to_thread(act)


def block(result):
    assert result.structured_content is None and not result.is_error, result
    (only,) = result.content
    return json.loads(only.text)


async def exercise(world, session):
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert set(tools) == {"ask", "request_approval", "wait_for_answer"}, tools
    assert all(tool.output_schema is None for tool in tools.values())

    told = []

    async def progress(done, total, message):
        told.append(done)

    call = asyncio.create_task(session.call_tool("ask", {"question": "Which colour?"}, progress_callback=progress))
    answered = await world.answer("--text", "teal")
    assert answered["delivery_state"] == "delivered", answered
    result = await call
    assert result.structured_content["answer"] == "teal" and not result.is_error, result
    assert told == [1.0], told

    native = {"tool_name": "Bash", "input": {"command": 'ls "a b"', "n": 1.0, "z": None, "é": [1]}, "tool_use_id": "t1"}
    call = asyncio.create_task(session.call_tool("request_approval", native))
    await world.answer("--allow")
    allowed = block(await call)
    assert allowed["behavior"] == "allow" and allowed["updatedInput"] == native["input"], allowed

    call = asyncio.create_task(session.call_tool("request_approval", {"action": "deploy"}))
    await world.answer("--deny")
    assert block(await call)["behavior"] == "deny"

    result = await session.call_tool("ask", {"question": "Anyone?", "timeout_secs": 1})
    assert result.is_error and result.structured_content["timed_out"], result

    calls = [asyncio.create_task(session.call_tool("ask", {"question": f"q{i}"})) for i in range(5)]
    found = await asyncio.to_thread(world.pending, 5)
    for record in reversed(found):
        await asyncio.to_thread(world.run, "answer", record["id"], "--text", record["prompt"] + "!")
    answers = [(await call).structured_content["answer"] for call in calls]
    assert answers == [f"q{i}!" for i in range(5)], answers

    pending = (await session.call_tool("ask", {"question": "Later?", "wait_secs": 0})).structured_content
    assert pending["status"] == "pending", pending
    call = asyncio.create_task(session.call_tool("wait_for_answer", {"interaction_id": pending["interaction_id"]}))
    await world.answer("--text", "now")
    assert (await call).structured_content["answer"] == "now"

    for name in ("interactions_list", "interactions_answer"):
        try:
            await session.call_tool(name, {})
            sys.exit(f"{name} can be called without --management")
        except MCPError as error:
            assert "unknown tool" in str(error), error

    # A call that the client gives up is cancelled, and its question withdrawn.
    abandoned = asyncio.create_task(session.call_tool("ask", {"question": "Still?"}))
    await asyncio.to_thread(world.pending)
    abandoned.cancel()
    await asyncio.to_thread(world.pending, 0)


async def manage(world):
    async with stdio_client(world.server("--management")) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert {"interactions_list", "interactions_answer"} < tools, tools
        asked = world.run("request", "Deploy?")
        listed = (await session.call_tool("interactions_list", {})).structured_content
        assert [one["id"] for one in listed["interactions"]] == [asked["id"]], listed
        result = await session.call_tool("interactions_answer", {"id": asked["id"], "decision": "deny"})
        assert result.structured_content["status"] == "answered" and not result.is_error, result
        result = await session.call_tool("interactions_answer", {"id": asked["id"], "decision": "allow"})
        assert result.is_error and result.structured_content["code"] == "already_answered", result


async def suspend(world):
    async with stdio_client(world.server("--workflow-id", "wf-1")) as streams, ClientSession(*streams) as session:
        await session.initialize()
        result = await session.call_tool("ask", {"question": "Which?"})
        assert result.structured_content["workflow_id"] == "wf-1" and not result.is_error, result
        native = {"tool_name": "Bash", "input": {"command": "ls"}}
        denied = block(await session.call_tool("request_approval", native))
        assert denied["behavior"] == "deny" and denied["result"]["status"] == "pending", denied
    assert [one["status"] for one in world.run("workflow", "list")["workflows"]] == ["paused"] * 2


async def run(lifecycle):
    with tempfile.TemporaryDirectory() as root:
        world = World(root)
        async with stdio_client(world.server()) as streams, ClientSession(*streams) as session:
            if lifecycle == "initialize":
                info = (await session.initialize()).server_info
            else:
                await session.discover()
                info = session.server_info
            assert info.name == "sayso", info
            await exercise(world, session)
            parked = asyncio.create_task(session.call_tool("ask", {"question": "Last?"}))
            await asyncio.to_thread(world.pending)
            parked.cancel()
        assert not world.pending(0)
        if lifecycle == "initialize":
            await manage(world)
            await suspend(world)
    print(f"ok   {lifecycle}")


for each in ("initialize", "discover"):
    asyncio.run(run(each))
