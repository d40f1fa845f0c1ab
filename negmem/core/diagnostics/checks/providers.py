"""Checks of the embedding model: is there one, does it answer, is it the one of the stored vectors."""

from __future__ import annotations

import os
from typing import Any

from negmem.core.diagnostics.embedder_call import HOSTED
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, NotNeededError, check
from negmem.errors import NegmemError
from negmem.providers.embedding import Embedder, EmbedderAbsent


def _absent(probe: Probe) -> EmbedderAbsent | None:
    found = probe.session.embedder_or_reason
    return found if isinstance(found, EmbedderAbsent) else None


def _embedder(probe: Probe) -> Embedder:
    found = probe.session.embedder_or_reason
    if isinstance(found, EmbedderAbsent):
        raise NotNeededError("there is no embedder")
    return found


@check("embedder_absent", "providers", needs=("table_missing", "table_not_readable"))
def embedder_absent(probe: Probe) -> Found | None:
    """There is an embedding model, or none is asked for and none was used."""
    absent = _absent(probe)
    if absent is None:
        return None
    settings = probe.session.config.embedding
    params = {"app_name": probe.session.app}
    has_vectors = bool(probe.row("diagnostics", "has_vectors", params)["has_vectors"])
    is_asked_for = settings.provider not in ("auto", "none")
    probe.note("providers", "keyword search only")
    if has_vectors:
        title = "vectors are stored and can't be searched: there is no embedder for the query"
    elif is_asked_for:
        title = f"the embedder {settings.provider} can't be had: search works by keyword only"
    else:
        title = "no embedder: search works by keyword only"
    return Found(
        title,
        evidence=f"{absent.message}: {absent.why}" if absent.why else absent.message,
        remedy=absent.hint,
        severity="warn" if has_vectors or is_asked_for else "info",
    )


@check("embedder_key_missing", "providers", needs=("embedder_absent",))
def embedder_key_missing(probe: Probe) -> Found | None:
    """The variable that holds the key of a hosted model is set."""
    settings = probe.session.config.embedding
    name = settings.api_key_env
    if settings.provider != HOSTED or name is None:
        raise NotNeededError("no key is named")
    if os.environ.get(name):
        return None
    return Found(
        "the hosted embedding model will refuse: its key is not set",
        evidence=f"embedding.api_key_env names {name}, which is not set or empty here",
        remedy=f"export {name}=…",
    )


@check(
    "embedder_differs", "providers", needs=("schema_outdated", "table_missing", "embedder_absent")
)
def embedder_differs(probe: Probe) -> Found | None:
    """The configured embedding model is the one that the stored vectors come from."""
    embedder = _embedder(probe)
    rows = probe.rows("diagnostics", "active_model", {"app_name": probe.session.app})
    if not rows:
        return Found(
            "no embedding model is on record for this app: its first ingest records one",
            evidence=f'embedding_models has no active row of the app "{probe.session.app}"',
            remedy="negmem init",
            severity="info",
        )
    stored = rows[0]
    configured = _space(embedder, probe)
    differing = [name for name, value in configured.items() if stored[name] != value]
    if not differing:
        probe.note("providers", f"{stored['dims']} dimensions, as stored")
        return None
    probe.note("providers", "not the stored model")
    detail = ", ".join(f"{n} {stored[n]} stored, {configured[n]} configured" for n in differing)
    return Found(
        "the configured embedding model is not that of the stored vectors: searches refuse to mix",
        evidence=detail,
        remedy=_back_to(stored),
        severity="fail",
    )


def _back_to(stored: dict[str, Any]) -> str:
    """The command that configures what is stored."""
    provider = stored["provider"]
    if provider == "local":
        return "negmem config set embedding.provider local"
    return (
        f"negmem config set embedding.provider {provider}; "
        f"negmem config set embedding.model {stored['model']}"
    )


def _space(embedder: Embedder, probe: Probe) -> dict[str, Any]:
    """Where the embedder's vectors live; the size of a hosted model only where it is configured."""
    space: dict[str, Any] = {
        "provider": embedder.name,
        "model": embedder.model,
        "version": embedder.version,
    }
    dims = probe.session.config.embedding.dims
    if embedder.name != HOSTED:
        space["dims"] = embedder.dims
    elif dims is not None:
        space["dims"] = dims
    return space


@check("embedder_fails", "providers", needs=("embedder_absent",), slow=True)
def embedder_fails(probe: Probe) -> Found | None:
    """The embedding model answers (a hosted one is not called)."""
    embedder = _embedder(probe)
    if embedder.name == HOSTED:
        probe.note("providers", f"{embedder.model}: hosted, not called")
        return None
    try:
        took_ms = probe.embedder_answer()
    except NegmemError as error:
        probe.note("providers", "the embedder fails")
        return Found(
            "the embedding model does not answer: search falls back to keywords, ingest stores no vectors",
            evidence=f"{error.message}: {error.why}",
            remedy=error.hint,
        )
    probe.note("providers", f"{embedder.name} embedder answers in {took_ms:.0f} ms")
    return None
