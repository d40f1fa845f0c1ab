"""The MCP server as a program of its own, with the official client: what it offers, and what it outlives."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from negmem.core.tools import offered
from negmem.errors import NegmemError
from negmem.mcp import server
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.signals import hear_interrupts
from tests.support.waiting import eventually

# Whatever writes to stdout while a tool works: a library that prints, a program that it starts.
NOISY = """
import os, sys
from negmem.mcp import server
quiet = server.call
def noisy(*args, **named):
    print("a library says hello")
    os.system("echo a child does too")
    return quiet(*args, **named)
server.call = noisy
from negmem.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
BLOCK = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"


@pytest.fixture
def shell(negmem: CliRunner) -> CliRunner:
    env = {
        "NEGMEM_EMBEDDING__PROVIDER": "none",
        "NEGMEM_LEARNING__KNOWLEDGE__ENABLED": "true",
        "NEGMEM_LEARNING__DECISION_LOG__ENABLED": "true",
    }
    return CliRunner({**negmem.env, **env}, negmem.cwd)


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", NOISY, "mcp", "serve", *words]


@asynccontextmanager
async def client(shell: CliRunner, log: Path, *words: str) -> AsyncIterator[Client]:
    program, *arguments = command(*words)
    parameters = StdioServerParameters(
        command=program, args=arguments, env=shell.environment(), cwd=shell.cwd
    )
    with log.open("a") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as connected:
            yield connected


async def read(connected: Client, tool: str, **arguments: Any) -> tuple[bool, Any]:
    answer = await connected.call_tool(tool, arguments)
    (block,) = answer.content
    return answer.is_error, json.loads(block.text)  # type: ignore[union-attr]


@pytest.mark.servers("embedded")
def test_the_official_client_over_stdio(
    shell: CliRunner, database: TestDatabase, tmp_path: Path
) -> None:
    log = tmp_path / "log"

    def admin(statement: str, *params: object) -> None:
        with psycopg.connect(database.server.admin_dsn, autocommit=True) as connection:
            connection.execute(statement.encode(), params)

    async def scenario() -> None:
        async with client(shell, log, "--user", "alice", "--agent", "desk") as alice:
            tools = (await alice.list_tools()).tools
            assert [one.name for one in tools] == list(offered.ALL)
            reading = {
                one.name for one in tools if one.annotations and one.annotations.read_only_hint
            }
            assert reading == {one.name for one in offered.ALL.values() if not one.writes}
            for one in tools:  # every tool can be called, and answers junk
                is_error, content = await read(alice, one.name, namespace="x", user="bob")
                assert is_error and content["error"]["code"] == "arguments_invalid", one.name
            assert (await read(alice, "drop_table"))[1]["error"]["code"] == "tool_unknown"

            is_error, written = await read(alice, "memory_write", content="爱丽丝喜欢龙井茶")
            assert not is_error and written["action"] == "added"
            both: list[Any] = []

            async def ask(tool: str, **arguments: Any) -> None:
                both.append(await read(alice, tool, **arguments))

            async with anyio.create_task_group() as group:
                group.start_soon(lambda: ask("memory_search", query="龙井"))
                group.start_soon(lambda: ask("show_profile"))
            assert len(both) == 2 and not any(is_error for is_error, _ in both)
            async with client(shell, log, "--user", "bob") as bob:
                assert (await read(bob, "memory_search", query="龙井"))[1]["memories"] == []
                stolen = await read(bob, "memory_delete", memory_id=written["id"])
                assert stolen[1]["error"]["code"] == "memory_unknown"

            # The server drops its connections: nobody notices. It goes away: each call says so.
            admin(BLOCK, database.name)
            assert not (await read(alice, "memory_search", query="龙井"))[0]
            admin(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
            admin(BLOCK, database.name)
            try:
                for _ in range(2):
                    is_error, content = await read(alice, "memory_search", query="龙井")
                    assert is_error and "try again later" in content["error"]["advice"]
                    assert database.name not in json.dumps(content), "nothing of the installation"
            finally:
                admin(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS true')
            is_error, found = await read(alice, "memory_search", query="龙井")
            assert not is_error and found["memories"][0]["id"] == written["id"]

    anyio.run(scenario)
    said = log.read_text(encoding="utf-8")
    assert "a library says hello" in said and "a child does too" in said, "beside the protocol"
    assert "memory_search: connection_failed" in said and "Traceback" not in said
    row = "SELECT metadata->>'written_by' FROM negentropy.memories"
    assert database.value(row) == "desk"


@contextmanager
def served(shell: CliRunner, *words: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command(*words),
        env=shell.environment(more),
        cwd=shell.cwd,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=hear_interrupts,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.servers("embedded")
def test_it_ends_with_its_client_and_says_nothing_else(
    shell: CliRunner, database: TestDatabase
) -> None:
    lines: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "by hand", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "show_profile", "arguments": {}}},
        {"id": 3, "method": "tools/call", "params": {"name": "show_profile", "arguments": [7]}},
        {"id": 4, "method": "tools/list"},
        {
            "id": 5,
            "method": "tools/call",
            "params": {
                "name": "memory_write",
                "arguments": {"content": "茶 🍵 \ud83d half \\ud83d"},
            },
        },
    ]
    with served(shell, "--user", "alice") as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"no protocol at all\n\xff\n")
        for line in lines:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
        process.stdin.flush()
        answers: dict[object, Any] = {}
        while not {1, 2, 3, 4, 5} <= set(answers):
            answer = json.loads(process.stdout.readline())
            assert answer["jsonrpc"] == "2.0"
            answers[answer.get("id")] = answer
        assert "memory_context" in answers[1]["result"]["instructions"]
        assert json.loads(answers[2]["result"]["content"][0]["text"])["fields"] == []
        assert "error" in answers[3] and len(answers[4]["result"]["tools"]) == len(offered.ALL)
        assert json.loads(answers[5]["result"]["content"][0]["text"])["action"] == "added"
        kept = database.value("SELECT content FROM negentropy.memories")
        assert kept == "茶 🍵 \ufffd half \\ud83d"
        process.stdin.close()
        assert eventually(lambda: process.poll() is not None, limit_s=180), (
            "the server ends when stdin does"
        )
        assert process.returncode == 0 and process.stdout.read() == b""
    connected = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'negmem mcp serve'"
    mine = f"{connected} AND datname = current_database()"
    assert eventually(lambda: database.value(mine) == 0), "the connection is closed"
    for how in ("gone", "SIGINT"):
        with served(shell, "--user", "alice") as process:
            assert process.stdin is not None and process.stdout is not None
            for line in lines[:3]:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
            if how == "gone":
                process.stdout.close()
                process.stdin.close()
            else:
                process.send_signal(signal.Signals[how])
            assert eventually(lambda p=process: p.poll() is not None, limit_s=180), how  # type: ignore[misc]
            assert process.returncode == (0 if how == "gone" else 130), how
            assert process.stderr is not None and b"Traceback" not in process.stderr.read()


@pytest.mark.servers("embedded")
def test_over_http_for_who_has_the_token(shell: CliRunner, database: TestDatabase) -> None:
    token = "0123456789abcdef"
    assert shell("mcp", "serve", "-u", "a", "--http", "0").code == 2, "no token"
    with served(shell, "--user", "alice", "--http", "0", NEGMEM_MCP_TOKEN=token) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        while line and "http://127.0.0.1:" not in line:
            line = process.stderr.readline().decode()
        url = line.split()[-1]

        async def scenario() -> None:
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(url, http_client=http)) as alice,
            ):
                is_error, written = await read(alice, "memory_write", content="爱丽丝喜欢龙井茶")
                assert not is_error and written["action"] == "added"
            guesses: list[tuple[dict[str, str], int]] = [
                ({}, 401),
                ({"Authorization": "Bearer 0123456789abcdeF"}, 401),
                ({**headers, "Host": "evil.example"}, 421),
            ]
            for wrong, status in guesses:
                async with httpx2.AsyncClient(headers=wrong, timeout=60) as http:
                    assert (await http.post(url, json={})).status_code == status

        anyio.run(scenario)
        process.send_signal(signal.SIGINT)
        assert eventually(lambda: process.poll() is not None, limit_s=180)
        assert process.returncode == 130
    assert database.value("SELECT count(*) FROM negentropy.memories") == 1


def test_what_can_not_be_served_is_said_at_once(
    shell: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shell("mcp", "serve").code == 2, "whose?"
    refused = shell("mcp", "serve", "--user", "a", "--schema", "nothing_here")
    assert (refused.code, refused.stdout) == (1, "") and "schema_missing" in refused.stderr
    denied = shell("mcp", "serve", "--user", "a", "--namespace", "of-others", "--json")
    assert denied.code == 1 and denied.json["error"]["code"] == "namespace_denied"
    monkeypatch.setattr(server.importlib.metadata, "version", lambda name: "1.26.0")
    with pytest.raises(NegmemError) as raised:
        server.require_sdk()
    assert raised.value.code == "mcp_absent" and "negmem[mcp]" in raised.value.hint
    monkeypatch.setitem(sys.modules, "mcp", None)
    refused = shell("mcp", "serve", "--user", "a", "--json")
    assert refused.code == 1 and refused.json["error"]["code"] == "mcp_absent"
