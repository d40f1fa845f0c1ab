"""Tools of learned knowledge: search, and save once it was searched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from negmem.core.learning import learnings
from negmem.core.learning.protocol import Bound
from negmem.core.models.learning import LearningChange
from negmem.core.tools.definition import (
    Arguments,
    OptionalText,
    OptionalWord,
    Refusal,
    Text,
    Word,
    tool,
)
from negmem.core.tools.limits import called_within
from negmem.core.tools.written import outcome
from negmem.errors import NegmemError

_DEFAULT = "global"


class SearchLearnings(Arguments):
    """Arguments of search_learnings."""

    query: Annotated[Text, Field(description="What the lesson should be about.")]
    limit: Annotated[int, Field(description="At most so many lessons.", ge=1, le=20)] = 5


class SaveLearning(Arguments):
    """Arguments of save_learning."""

    title: Annotated[Word, Field(description="A short, specific title.")]
    learning: Annotated[
        Text,
        Field(description="The lesson itself: reusable and actionable, in a sentence or a few."),
    ]
    context: Annotated[OptionalText, Field(description="When it applies.")] = None
    tags: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=64)]],
        Field(description="Words to file it under.", max_length=10),
    ] = []  # noqa: RUF012  frozen, and pydantic copies defaults


class UpdateLearning(Arguments):
    """Arguments of update_learning."""

    learning_id: Annotated[UUID, Field(description="The id of a result of search_learnings.")]
    title: Annotated[OptionalWord, Field(description="The new title; leave out to keep it.")] = None
    learning: Annotated[
        OptionalText, Field(description="The complete new text; leave out to keep it.")
    ] = None
    context: Annotated[
        OptionalText, Field(description="When it applies; leave out to keep what is there.")
    ] = None
    tags: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=64)]] | None,
        Field(description="All its tags anew; leave out to keep them.", max_length=10),
    ] = None


class DeleteLearning(Arguments):
    """Arguments of delete_learning."""

    learning_id: Annotated[UUID, Field(description="The id of a result of search_learnings.")]
    reason: Annotated[OptionalWord, Field(description="Why it holds no more.")] = None


@tool("knowledge", SearchLearnings)
def search_learnings(bound: Bound, given: SearchLearnings) -> Mapping[str, Any]:
    """Search lessons that were learned before: methods, conventions, pitfalls. Search before you give
    advice on how to do something, and always before save_learning."""
    found = learnings.search_learnings(
        bound.session,
        bound.user,
        given.query,
        namespace=bound.in_namespace(_DEFAULT),
        limit=given.limit,
    )
    return {
        "learnings": [
            {
                "id": str(one.id),
                "title": one.title,
                "learning": one.learning,
                "context": one.context,
                "tags": one.tags,
                "score": round(one.score, 3),
            }
            for one in found.learnings
        ],
        "total": found.total,
    }


@tool("knowledge", SaveLearning, writes=True)
def save_learning(bound: Bound, given: SaveLearning) -> Mapping[str, Any]:
    """Save a lesson that others can use again: non-obvious, reusable, actionable. Not facts about the user
    (memory_write), nor about people and firms (add_fact). Call search_learnings first; a lesson that says
    nearly the same as a stored one is refused."""
    settings = bound.session.config.learning.tools
    if not called_within(bound, search_learnings.name, settings.search_first_s):
        raise Refusal(
            "search_first",
            "nothing is saved that was not searched for",
            "call search_learnings with what you want to save; save it if nothing like it is found",
        )
    done = learnings.save(
        bound.session,
        bound.user,
        title=given.title,
        learning=given.learning,
        context=given.context,
        tags=given.tags,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


@tool("knowledge", UpdateLearning, writes=True)
def update_learning(bound: Bound, given: UpdateLearning) -> Mapping[str, Any]:
    """Correct or complete a lesson that search_learnings found, rather than to save another beside it. What it
    said before is kept."""
    done = learnings.edit(
        bound.session,
        bound.user,
        _standing(bound, given.learning_id),
        title=given.title,
        learning=given.learning,
        context=given.context,
        tags=given.tags,
    )
    return _written(done)


@tool("knowledge", DeleteLearning, writes=True)
def delete_learning(bound: Bound, given: DeleteLearning) -> Mapping[str, Any]:
    """Take away a lesson that turned out wrong or outdated; a person can bring it back. If it is right but for
    a part, use update_learning."""
    done = learnings.remove(
        bound.session, bound.user, _standing(bound, given.learning_id), reason=given.reason
    )
    return _written(done)


def _standing(bound: Bound, id: UUID) -> UUID:
    """The id, of a lesson of the namespace that is bound. Raises: Refusal `learning_unknown` as for one that nobody has."""
    try:
        one = learnings.show(bound.session, bound.user, id)
    except NegmemError as error:
        if error.code != "learning_unknown":
            raise
        one = None
    if one is None or one.namespace != bound.in_namespace(_DEFAULT) or one.deleted_at is not None:
        raise Refusal(
            "learning_unknown",
            "there is no such lesson here",
            "take the id of a result of search_learnings",
        )
    return id


def _written(done: LearningChange) -> dict[str, Any]:
    one = done.learning
    named = {} if one is None else {"id": str(one.id), "version": one.version}
    return {**outcome(done), **named}


TOOLS = (search_learnings, save_learning, update_learning, delete_learning)
