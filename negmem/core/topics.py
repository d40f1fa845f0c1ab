"""Topics: memories about one thing, grouped as they come; an id stays while members come and go."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.core.models.association import Topic, TopicList
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.core.text.pages import check_page
from negmem.core.text.topic_labels import topic_label, word_counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEP = "topic_cluster"
MAX_TOPICS = 500
"""So many a user has at most; beyond it the oldest of one member go."""
BATCH = 200
_PENDING = 10_000
_LABELLED_FROM = 50
_BACKGROUND = 300


@dataclass(frozen=True)
class Clustered:
    """What a run did: memories that were looked at, those that joined another, topics it began."""

    memories: int
    joined: int
    begun: int


@dataclass
class _Centre:
    id: UUID
    mean: NDArray[np.float64]
    members: int
    labelled: int
    is_touched: bool = False


@gated
def list_topics(session: Session, user: str, *, limit: int = 20, offset: int = 0) -> TopicList:
    """A page of a user's topics, the largest first; those of two live memories or more.

    Raises: UsageError `limit_invalid`.
    """
    check_page(limit, offset, "negmem memory topics --user NAME --limit 100")
    scope = {"user_id": user, "app_name": session.app}
    session.knows_user(user)
    params = {**scope, "row_limit": limit, "row_offset": offset}
    rows = session.database.rows("topics", "list", params)
    total = int(rows[0].pop("total")) if rows else 0
    topics = [Topic(**{k: v for k, v in row.items() if k != "total"}) for row in rows]
    return TopicList(topics=topics, total=total, truncated=offset + len(topics) < total)


def cluster_new(
    session: Session,
    user: str,
    *,
    threshold: float,
    thread_id: UUID | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> Clustered | None:
    """Give memories that are new or were edited their topic; None where the app has no embedding model.

    Each joins the topic whose centre is nearest, if it is as near as `threshold` on the calibrated
    scale, else it begins one. Memories come in the order in which they were said, batch by batch, each
    a transaction: cut off anywhere, the next call ends in the same topics.
    """
    model = session.database.row("topics", "model", {"app_name": session.app})
    if model is None:
        return None
    floor = _floor(model["calibration"])
    scope = {"user_id": user, "app_name": session.app, "model_id": model["id"], "step": STEP}
    seen = joined = begun = 0
    while True:
        params = {**scope, "thread_id": thread_id, "row_limit": _PENDING}
        rows = session.database.rows("topics", "pending", params)
        for start in range(0, len(rows), BATCH):
            checkpoint()
            ids = [row["id"] for row in rows[start : start + BATCH]]
            counts = _cluster_batch(session, {**scope, "ids": ids}, floor, threshold)
            seen, joined, begun = seen + counts[0], joined + counts[1], begun + counts[2]
        if len(rows) < _PENDING:
            return Clustered(seen, joined, begun)


def _floor(calibration: dict[str, Any]) -> float:
    """The cosine of two stored texts that counts as 0; as sql/functions/link_memories.sql has it."""
    p99 = (calibration.get("unrelated") or {}).get("99")
    return 0.0 if p99 is None else max(0.0, (float(p99) - 0.3) / 0.7)


def _cluster_batch(
    session: Session, scope: dict[str, Any], floor: float, threshold: float
) -> tuple[int, int, int]:
    import numpy as np

    database = session.database
    with database.transaction():
        database.rows("topics", "lock", scope)
        rows = database.rows("topics", "chosen", scope)
        left = [row["topic_id"] for row in rows if row["topic_id"] is not None]
        if left:
            database.execute("topics", "leave", {**scope, "ids": [row["id"] for row in rows]})
            database.execute("topics", "drop_empty", {**scope, "ids": left})
        database.execute("topics", "recentre", {**scope, "ids": left})
        centres = [
            _Centre(row["id"], np.array(row["centroid"], float), row["members"], row["labelled"])
            for row in database.rows("topics", "centres", scope)
        ]
        memories, topics, similarities = [], [], []
        joined = begun = 0
        table = np.array([_unit(centre.mean) for centre in centres])
        for row in rows:
            vector = np.array(row["vector"], float)
            near, similarity = _nearest(table, vector, floor)
            if similarity >= threshold:
                centre = centres[near]
                centre.mean = (centre.mean * centre.members + vector) / (centre.members + 1)
                centre.members += 1
                table[near] = _unit(centre.mean)
                joined += 1
            else:
                centre, similarity = _Centre(_topic_id(scope, row), vector, 1, 0), 1.0
                centres.append(centre)
                own = _unit(vector)[None, :]
                table = np.concatenate([table, own]) if len(table) else own
                begun += 1
            centre.is_touched = True
            memories.append(row["id"])
            topics.append(centre.id)
            similarities.append(float(similarity))
        touched = [centre for centre in centres if centre.is_touched]
        if touched:
            values = {
                "ids": [centre.id for centre in touched],
                "centroids": [_written(centre.mean) for centre in touched],
                "members": [centre.members for centre in touched],
            }
            database.execute("topics", "put", {**scope, **values})
        if memories:
            database.execute(
                "topics",
                "join",
                {
                    **scope,
                    "memory_ids": memories,
                    "topic_ids": topics,
                    "similarities": similarities,
                },
            )
        grown = [one for one in touched if one.members >= max(2, 2 * one.labelled)]
        if grown:
            _label(session, scope, grown)
        database.execute("topics", "evict", {**scope, "keep": MAX_TOPICS})
        marks = {"ids": memories, "versions": [row["version"] for row in rows]}
        database.execute("formation_marks", "mark", {**scope, **marks})
    return len(rows), joined, begun


def _topic_id(scope: dict[str, Any], row: dict[str, Any]) -> UUID:
    """The id of a topic that a memory begins, made of the memory, so that a repeat makes no other."""
    return uuid.uuid5(row["id"], f"topic {scope['model_id']} {row['version']}")


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    norm = float(np.linalg.norm(vector))
    return vector / norm if norm > 0 else vector


def _nearest(
    table: NDArray[np.float64], vector: NDArray[np.float64], floor: float
) -> tuple[int, float]:
    """The row of the nearest centre, and how near it is, calibrated; −1 where there is none."""
    if not len(table):
        return 0, -1.0
    cosines = table @ _unit(vector)
    near = int(cosines.argmax())
    return near, min(1.0, max(0.0, (float(cosines[near]) - floor) / (1.0 - floor)))


def _written(vector: NDArray[np.float64]) -> str:
    return f"[{','.join(f'{value:.7g}' for value in vector.tolist())}]"


def _label(session: Session, scope: dict[str, Any], centres: list[_Centre]) -> None:
    database = session.database
    rows = database.rows("topics", "background", {**scope, "row_limit": _BACKGROUND})
    common = word_counts([row["content"] for row in rows])
    for centre in centres:
        params = {**scope, "id": centre.id, "row_limit": _LABELLED_FROM}
        texts = [row["content"] for row in database.rows("topics", "texts", params)]
        label = topic_label(texts, common, len(rows))
        named = {**scope, "id": centre.id, "label": label, "members": centre.members}
        database.execute("topics", "label", named)
