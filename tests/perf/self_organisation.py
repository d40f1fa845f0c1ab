"""What self-organisation would change of retrieval: importance from usage, sleep, views of the links.

    python -m tests.perf.self_organisation --dataset locomo --data DIR [--server embedded]

A data set is stored and linked as consolidation links it, each headline question asked once for 60 results; the rest is
arithmetic on what came back. Nothing here is part of the program: docs/adr/0030 to 0032 say why.
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from negmem.core import associations, installation
from negmem.core.bench import retrieval
from negmem.core.bench.datasets import load
from negmem.core.evolution import dedup
from negmem.core.evolution.dedup_options import options
from negmem.core.evolution.stores import store_of
from negmem.core.session import open_session
from tests import servers
from tests.support import databases

KS = (1, 5, 10)
CONFLICTING = ("negation", "amount", "time", "name")
VIEWS = ("semantic", "temporal", "thread_shared", "entity")
SHARES = (0.02, 0.05, 0.1)
View = tuple[str, float]


@dataclass
class Asked:
    """A question with what was found for it, best first: (memory, turn, score)."""

    store: str
    intent: str
    evidence: set[str]
    found: list[tuple[str, str, float]]


@dataclass
class World:
    """Everything that the arithmetic needs."""

    asked: list[Asked] = field(default_factory=list)
    turns: dict[str, str] = field(default_factory=dict)
    moments: dict[str, Any] = field(default_factory=dict)
    links: dict[str, dict[str, list[tuple[str, float]]]] = field(default_factory=dict)
    edges: list[tuple[Any, ...]] = field(default_factory=list)
    conflicts: list[tuple[str, str, float]] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)


Ranking = Callable[[Asked], Sequence[str]]


def recall(asked: Sequence[Asked], ranking: Ranking, k: int) -> float:
    """The mean share of the evidence among the first k turns."""
    shares = [len(q.evidence & set(ranking(q)[:k])) / len(q.evidence) for q in asked]
    return sum(shares) / len(shares)


def line(what: str, asked: Sequence[Asked], ranking: Ranking) -> None:
    """One line of figures."""
    print(f"{what:<56}" + "  ".join(f"{recall(asked, ranking, k):.4f}" for k in KS), flush=True)


def as_found(question: Asked) -> list[str]:
    """The order of the search itself."""
    return [turn for _, turn, _ in question.found]


def read(name: str, folder: Path, server: str) -> World:
    """Store, ask, link, and look for duplicates, in a database that is dropped again."""
    place = servers.ensure(server)
    database = databases.create(place, template=databases.migrated_template(place))
    world = World()
    try:
        data = load(name, folder, variant=None, mini=False, pooled=False)
        with ExitStack() as stack:
            asking = open_session(
                dsn=database.dsn, env=os.environ, overrides={"embedding.provider": "local"}
            )
            session = stack.enter_context(asking)
            variant = retrieval.Variant("auto", "auto", session.config.retrieval)
            session.use_embedder(retrieval.embedder_for(session, [variant], stack))
            installation.install(session)
            store = retrieval.fill_store(session, data, print)
            for question in data.questions:
                if question.evidence and question.is_headline:
                    answer = retrieval._search(store, question, variant, 60)
                    intent = database.value(
                        "SELECT intent FROM negentropy.query_intent(%s)", (question.text,)
                    )
                    found = [
                        (str(r.id), str((r.metadata or {})["turn_id"]), r.score)
                        for r in answer.results
                    ]
                    world.asked.append(
                        Asked(question.store, str(intent), set(question.evidence), found)
                    )
            users = sorted({conversation.store for conversation in data.conversations})
            for user in users:
                associations.link_new(session, user)
                same = dedup.deduplicate(
                    session, store_of(session, user), options(semantic=True), dry_run=True
                )
                world.merged += [str(pair.removed) for pair in same.pairs]
                world.conflicts += [
                    (str(v.one), str(v.other), v.similarity or 0)
                    for v in same.vetoed_pairs
                    if v.guard in CONFLICTING
                ]
        for id, turn, moment in database.rows(
            "SELECT id::text, metadata ->> 'turn_id', occurred_at FROM negentropy.memories"
        ):
            world.turns[id], world.moments[id] = turn, moment
        for view in VIEWS:
            world.links[view] = defaultdict(list)
        for one, other, view, weight in database.rows(
            "SELECT source_id::text, target_id::text, association_type::text, weight"
            " FROM negentropy.memory_associations"
        ):
            world.links[view][one].append((other, weight))
            world.links[view][other].append((one, weight))
        world.edges = database.rows(
            "SELECT association_type::text, count(*), count(valid_from), count(valid_until)"
            " FROM negentropy.memory_associations GROUP BY 1 ORDER BY 1"
        )
    finally:
        databases.drop(database)
    return world


def importance(world: World) -> None:
    """Half of a store's questions are its usage; weights fitted on some of the rest, tried on the others."""
    chance = random.Random(1)
    by_store: dict[str, list[Asked]] = defaultdict(list)
    for question in world.asked:
        by_store[question.store].append(question)
    rest: list[Asked] = []
    shown: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for questions in by_store.values():
        chance.shuffle(questions)
        half = len(questions) // 2
        for question in questions[:half]:
            shown.update(memory for memory, _, _ in question.found[:10])
            used.update(m for m, turn, _ in question.found[:10] if turn in question.evidence)
        rest += questions[half:]
    chance.shuffle(rest)
    fit, kept = rest[: len(rest) // 2], rest[len(rest) // 2 :]

    def weighted(shown_weight: float, used_weight: float) -> Ranking:
        def order(question: Asked) -> list[str]:
            def score(found: tuple[str, str, float]) -> float:
                memory, _, base = found
                log = (math.log1p(shown[memory]), math.log1p(used[memory]))
                return -(base + shown_weight * log[0] + used_weight * log[1])

            return [turn for _, turn, _ in sorted(question.found, key=score)]

        return order

    steps = (-0.1, -0.05, -0.02, 0.0, 0.01, 0.02, 0.05, 0.1)
    best = max(((a, b) for a in steps for b in steps), key=lambda w: recall(fit, weighted(*w), 5))
    line("importance: fitted half, as it is", fit, as_found)
    line(f"importance: fitted half, weights {best}", fit, weighted(*best))
    line("importance: other half, as it is", kept, as_found)
    line("importance: other half, fitted weights", kept, weighted(*best))


def sleep(world: World) -> None:
    """The older of each pair that may conflict gone, or what says the same as another."""

    def without(gone: set[str]) -> Ranking:
        return lambda question: [turn for m, turn, _ in question.found if m not in gone]

    def older(pairs: Sequence[tuple[str, str, float]]) -> set[str]:
        return {min(pair[:2], key=lambda memory: world.moments[memory]) for pair in pairs}

    near = [pair for pair in world.conflicts if pair[2] >= 0.6]
    line("sleep: as it is", world.asked, as_found)
    for what, gone in (
        ("older of all that may conflict", older(world.conflicts)),
        ("older of those near by 0.6", older(near)),
        ("merged", set(world.merged)),
    ):
        line(f"sleep: {what}, {len(gone)} gone", world.asked, without(gone))


def views(world: World) -> None:
    """Links raise what the ten best are linked with, by one view for all or by one for each intent."""
    for edge in world.edges:
        print("edges: {} {:,}, valid from {}, valid until {}".format(*edge))

    def through(view: str, share: float) -> Ranking:
        def order(question: Asked) -> list[str]:
            scores = {memory: score for memory, _, score in question.found}
            for memory, _, score in question.found[:10]:
                for other, weight in world.links[view].get(memory, ()):
                    scores[other] = scores.get(other, 0) + share * score * weight
            best = sorted(scores.items(), key=lambda item: -item[1])
            return [world.turns[memory] for memory, _ in best if memory in world.turns]

        return order

    choices: list[View] = [("semantic", 0.0), *((view, s) for view in VIEWS for s in SHARES)]
    for view, share in choices:
        line(f"views: {view}, share {share}", world.asked, through(view, share))
    for seed in (1, 2, 3):
        asked = list(world.asked)
        random.Random(seed).shuffle(asked)
        fit, kept = asked[: len(asked) // 2], asked[len(asked) // 2 :]

        def worth(questions: Sequence[Asked], view: View) -> float:
            order = through(*view)
            return recall(questions, order, 5) + recall(questions, order, 10)

        chosen: dict[str, View] = {}
        for intent in {question.intent for question in fit}:
            of_it = [question for question in fit if question.intent == intent]
            chosen[intent] = max(choices, key=lambda view, q=of_it: worth(q, view))  # type: ignore[misc]
        one = max(choices, key=lambda view, q=fit: worth(q, view))  # type: ignore[misc]
        line(f"views: split {seed}, other half, as it is", kept, as_found)
        line(f"views: split {seed}, other half, by intent", kept, lambda q, c=chosen: through(*c.get(q.intent, choices[0]))(q))  # type: ignore[misc]  # fmt: skip
        line(f"views: split {seed}, other half, {one} for all", kept, through(*one))


def main() -> None:
    """Measure and print: recall@1, recall@5, recall@10."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--server", default="embedded")
    arguments = parser.parse_args()
    world = read(arguments.dataset, arguments.data, arguments.server)
    print(f"{len(world.asked):,} questions, {len(world.turns):,} memories")
    importance(world)
    sleep(world)
    views(world)


if __name__ == "__main__":
    main()
