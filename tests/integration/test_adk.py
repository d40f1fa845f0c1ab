"""The memory service of Google's Agent Development Kit, with the kit itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest
from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.genai import types

import negmem
from negmem.adapters.adk import NegmemMemoryService
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder


class Recalling(BaseLlm):
    """A model that first asks its memory, then says what it found."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        (part,) = llm_request.contents[-1].parts or []
        if part.function_response is None:
            call = types.FunctionCall(name="load_memory", args={"query": part.text})
            yield LlmResponse(
                content=types.Content(role="model", parts=[types.Part(function_call=call)])
            )
            return
        found = str(part.function_response.response)
        answer = "龙井茶" if "龙井" in found else "不知道"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))


def text(words: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=words)])


def test_the_memory_service_of_the_agent_development_kit(database: TestDatabase) -> None:
    async def scenario() -> None:
        with negmem.connect(database.dsn, app="desk", embedder=FakeEmbedder()) as mem:
            mem.init()
        service = NegmemMemoryService(database.dsn, embedder=FakeEmbedder())
        sessions = InMemorySessionService()
        agent = LlmAgent(name="desk", model=Recalling(model="none"), tools=[load_memory])
        runner = Runner(
            app_name="desk", agent=agent, session_service=sessions, memory_service=service
        )

        async def ask(user: str, session: str, words: str) -> str:
            events = runner.run_async(user_id=user, session_id=session, new_message=text(words))
            return [event async for event in events][-1].content.parts[0].text  # type: ignore

        session = await sessions.create_session(app_name="desk", user_id="爱丽丝", session_id="s1")
        await sessions.append_event(session, Event(author="user", content=text("我喜欢喝龙井茶")))
        for _ in range(2):
            await service.add_session_to_memory(session)
        mine = {"app_name": "desk", "user_id": "爱丽丝"}
        found = (await service.search_memory(**mine, query="喝什么茶")).memories
        assert [one.content.parts[0].text for one in found] == ["我喜欢喝龙井茶"]  # type: ignore
        assert found[0].author == "user" and found[0].timestamp and found[0].id

        await sessions.create_session(app_name="desk", user_id="爱丽丝", session_id="s2")
        assert await ask("爱丽丝", "s2", "我喜欢喝什么茶") == "龙井茶"
        await sessions.create_session(app_name="desk", user_id="bob", session_id="s2")
        assert await ask("bob", "s2", "我喜欢喝什么茶") == "不知道"
        other = await service.search_memory(app_name="other", user_id="爱丽丝", query="喝什么茶")
        assert other.memories == [], "users of two apps are two"
        grown = await sessions.get_session(app_name="desk", user_id="爱丽丝", session_id="s2")
        assert grown is not None and len(grown.events) == 4
        await service.add_session_to_memory(grown)
        await service.add_events_to_memory(**mine, session_id="s2", events=[])
        last = [Event(author="user", content=text("I moved to Ghent"))]
        for _ in range(2):
            await service.add_events_to_memory(**mine, session_id="s2", events=last)
        assert (await service.search_memory(**mine, query=" ")).memories == []

        id = str(uuid4())
        entry = MemoryEntry(id=id, content=text("Prefers trains"), timestamp="2026-03-02T09:00:00Z")
        for _ in range(2):
            await service.add_memory(**mine, memories=[entry], custom_metadata={"via": "desk"})
        assert (await service.search_memory(**mine, query="trains")).memories[0].id == id
        with pytest.raises(NegmemError):
            await service.delete_memory(app_name="desk", user_id="bob", memory_id=id)
        await service.delete_memory(**mine, memory_id=id)
        found = (await service.search_memory(**mine, query="trains")).memories
        assert id not in [one.id for one in found]
        await service.close()

    asyncio.run(scenario())
    rows = database.rows(
        "SELECT content FROM negentropy.memories WHERE user_id = '爱丽丝' AND deleted_at IS NULL"
    )
    assert sorted(words for (words,) in rows if not words.startswith("load_memory")) == sorted(
        ["我喜欢喝龙井茶", "我喜欢喝什么茶", "龙井茶", "I moved to Ghent"]
    ), "no turn is there twice"
