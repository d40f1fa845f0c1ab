"""The conversations that ship for the demo."""

import pytest

from negmem.shipped import data_dir
from tests.support.conversations import sessions_of


@pytest.mark.parametrize(("name", "user"), [("english", "maya"), ("chinese", "linlan")])
def test_they_are_read_whole_over_several_sessions_and_dates(name: str, user: str) -> None:
    data = (data_dir() / "configs" / "demo" / f"{name}.jsonl").read_bytes()
    found = sessions_of(data)
    assert {session.user for session in found} == {user}
    assert len(found) >= 4 and len({session.occurred_at for session in found}) == len(found)
    turns = [turn for session in found for turn in session.turns]
    assert len(turns) >= 24 and all(turn.occurred_at for turn in turns)
    assert {turn.role for turn in turns} == {"user", "assistant"}
