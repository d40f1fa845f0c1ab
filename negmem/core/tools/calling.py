"""A call of a tool: counted, its arguments checked, done, and answered in words that a model can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from negmem.core.learning.protocol import Bound
from negmem.core.models.tool import ToolAnswer
from negmem.core.pii import gated
from negmem.core.review import AGENT, Acting, acting
from negmem.core.session import Session
from negmem.core.tools.definition import Arguments, Definition, Refusal
from negmem.core.tools.fitting import fitted
from negmem.core.tools.further import called, further_tools
from negmem.core.tools.limits import admit
from negmem.core.tools.offered import ALL, offered, why_not
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError
from negmem.providers.tokens import counter_for

_MOST_CHARS = 500_000
_NAMED = 5
# What is wrong with the installation is its operator's to hear, not a model's to work around.
_OPERATORS = frozenset(
    (
        *("server_unreachable", "authentication_failed", "database_not_found"),
        *("too_many_connections", "connection_failed", "schema_missing", "schema_outdated"),
        *("schema_newer", "migration_changed", "privilege_missing"),
    )
)
_FOR_THE_MODEL = frozenset(("user_paused", "user_being_erased", "user_on_hold"))
_ADVICE = {
    "decision_unknown": "take the id of a result of search_decisions",
    "part_unknown": "take the id of a fact of the entity as search_entities shows it",
    "memory_unknown": "take the id of a result of memory_search whose kind is memory",
    "memory_deleted": "write it anew with memory_write, if the user wants it remembered",
    "entity_unknown": "look for it with search_entities; create_entity, if it is new",
    "entity_ambiguous": "name one of these by type/id",
    "entity_exists": "update_entity or add_fact, if it is the same one; another entity_id, if it is not",
    "learning_exists": "nothing more is needed",
    "learning_similar": "update_learning, if it is the same lesson; else save it under a title of its own",
    "namespace_denied": "tell the user that this agent may not do that",
    "version_conflict": "read it again, then decide anew",
    "review_required": "tell the user that a person has to make this change",
    "user_paused": "the user is not to be remembered now; do not try again",
    "user_being_erased": "the user is being erased; do not try again",
}


@gated
def call(
    session: Session, bound: Bound, name: str, arguments: object, *, dry_run: bool = False
) -> ToolAnswer:
    """What a tool answers to unchecked arguments: a mapping, or JSON text of an object.

    A refusal, wrong arguments or an unknown tool is an answer with `is_error`, which the model reads. Whose
    and where is what `bound` says, whatever the arguments say. A dry run only checks the arguments.
    Raises: NegmemError where the database or the installation fails.
    """
    here = bound.using(session)
    try:
        return _done(here, name, arguments, dry_run)
    except Refusal as refusal:
        return _refused(session, name, refusal)
    except NegmemError as error:
        if error.code not in _FOR_THE_MODEL and (
            isinstance(error, DatabaseError) or error.code in _OPERATORS
        ):
            raise
        advice = _ADVICE.get(error.code, "")
        why = {} if error.code in _FOR_THE_MODEL or not error.why else {"why": error.why}
        return _refused(session, name, Refusal(error.code, error.message, advice, **why))


def _done(bound: Bound, name: str, arguments: object, dry_run: bool) -> ToolAnswer:
    session = bound.session
    one = ALL.get(name)
    if one is None:
        return _of_another(bound, name, arguments, dry_run)
    reason = why_not(session, one)
    if reason is not None:
        raise Refusal(
            "tool_not_offered", f"{name} is not offered to agents here", "go on without it"
        )
    if dry_run:
        given = _checked(session, one, arguments)
        content: Mapping[str, Any] = {
            "dry_run": True,
            "arguments": given.model_dump(mode="json", by_alias=True, exclude_unset=True),
        }
    else:
        admit(bound, name, writes=one.writes)
        with acting(session, _agent(bound, one)):
            content = one.act(bound, _checked(session, one, arguments))
    return _answer(session, name, content)


def _of_another(bound: Bound, name: str, arguments: object, dry_run: bool) -> ToolAnswer:
    """A call of a tool that is not built in."""
    others = further_tools(bound, frozenset(ALL))
    one = others.get(name)
    if one is None:
        raise Refusal(
            "tool_unknown",
            f"there is no tool {str(name)[:60]!r}",
            "call one of these",
            tools=[*(known.name for known in offered(bound.session)), *others],
        )
    try:
        given = _object(arguments)
    except (ValueError, RecursionError) as error:
        raise Refusal("arguments_invalid", f"{name} can't be called so: {error}") from None
    if dry_run:
        return _answer(bound.session, name, {"dry_run": True, "arguments": given})
    admit(bound, name, writes=one.tool.writes)
    with acting(bound.session, Acting(bound.agent, agent=bound.agent, thread=bound.thread)):
        return _answer(bound.session, name, called(one, given))


def _answer(session: Session, name: str, content: Mapping[str, Any]) -> ToolAnswer:
    fit = fitted(content, session.config.learning.tools.max_tokens, _counter(session))
    return ToolAnswer(
        tool=name,
        is_error=False,
        content=fit.content,
        tokens=fit.tokens,
        left_out=fit.left_out,
        cut=fit.is_cut,
    )


def _agent(bound: Bound, one: Definition) -> Acting:
    """On whose behalf a tool writes: an agent proposes in its own name, so that its user may decide."""
    who = bound.agent
    mode = getattr(bound.session.config.learning, one.store).mode
    if who is None and one.writes and mode in ("propose", "hitl"):
        who = AGENT
    return Acting(who=who, agent=bound.agent, thread=bound.thread)


def _checked(session: Session, one: Definition, arguments: object) -> Arguments:
    """The arguments as the tool takes them. Raises: Refusal `arguments_invalid`."""
    model = one.arguments(session)
    known = [field.alias or name for name, field in model.model_fields.items()]
    try:
        return model.model_validate(_object(arguments))
    except ValidationError as error:
        problems = [_problem(found) for found in error.errors(include_url=False)]
    except (ValueError, RecursionError) as error:
        problems = [{"argument": "all of them", "problem": str(error)[:200]}]
    raise Refusal(
        "arguments_invalid",
        f"{one.name} can't be called so",
        "call it again with arguments as its schema has them",
        problems=problems[:_NAMED],
        arguments=known,
    )


def _object(arguments: object) -> Mapping[str, Any]:
    if arguments is None:
        return {}
    if isinstance(arguments, (str, bytes)):
        if len(arguments) > _MOST_CHARS:
            raise ValueError(f"they have more than {_MOST_CHARS:,} characters")
        text = arguments.strip()
        try:
            arguments = json.loads(text) if text else {}
        except UnicodeDecodeError:
            raise ValueError("they are no UTF-8") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"they are no JSON: {error}") from None
    if not isinstance(arguments, Mapping):
        raise ValueError(f"they are {type(arguments).__name__}, not an object")
    return arguments


def _problem(found: Any) -> dict[str, str]:
    place = ".".join(str(part) for part in found["loc"]) or "all of them"
    said = found["msg"]
    if found["type"] == "extra_forbidden":
        said = "there is no such argument; whose and where is set by the server"
    return {"argument": place[:100], "problem": said[:200]}


def _refused(session: Session, name: str, refusal: Refusal) -> ToolAnswer:
    error = {"code": refusal.code, "message": refusal.message, **refusal.more}
    if refusal.advice:
        error["advice"] = refusal.advice
    fit = fitted({"error": error}, session.config.learning.tools.max_tokens, _counter(session))
    return ToolAnswer(
        tool=str(name)[:100],
        is_error=True,
        content=fit.content,
        tokens=fit.tokens,
        left_out=fit.left_out,
        cut=fit.is_cut,
    )


def _counter(session: Session) -> Any:
    return counter_for(session.config.llm.model)
