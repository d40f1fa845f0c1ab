"""What it takes to make the database agree: one plan, the same for `diff`, `sync` and `show`."""

from __future__ import annotations

import difflib
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from negmem import __version__
from negmem.core.automation import (
    changes_access,
    changes_embedding,
    changes_extensions,
    changes_functions,
    changes_indexes,
    changes_jobs,
    changes_learning,
    changes_roles,
    changes_row_security,
)
from negmem.core.automation.changes_functions import FunctionChange, FunctionPart
from negmem.core.automation.declared import ConfigPlan, Taken, automation_keys, plan_config
from negmem.core.automation.part import Part, digest
from negmem.core.models.change import Change, UnmanagedObject
from negmem.core.session import Session
from negmem.db.connect import Connection
from negmem.db.functions import Comparisons
from negmem.db.observed import observe
from negmem.errors import UsageError


@dataclass(frozen=True)
class Plan:
    """Everything that differs: config first, then the parts in the order in which they are put right."""

    config: ConfigPlan
    parts: tuple[Part, ...]
    reduced: tuple[str, ...] = ()

    @property
    def changes(self) -> list[Change]:
        """All changes: config first, then part by part."""
        return [*self.config.changes, *(c for part in self.parts for c in part.changes)]

    @property
    def unmanaged(self) -> list[UnmanagedObject]:
        """What stands in the schema and is not negmem's."""
        return [thing for part in self.parts for thing in part.unmanaged]

    @property
    def unchanged(self) -> int:
        """How many managed things are as declared."""
        return sum(part.unchanged for part in self.parts)

    def named(self, words: Sequence[str]) -> frozenset[str]:
        """The names of the things that `words` ask for.

        Raises: UsageError `name_unknown`, for a word that nothing of the plan is named by.
        """
        known: dict[str, set[str]] = defaultdict(set)
        for key in automation_keys():
            known[f"automation.{key}"].add(f"automation.{key}")
        for word, name in (pair for part in self.parts for pair in part.known()):
            known[word].add(name)
        for word in words:
            if word not in known:
                near = difflib.get_close_matches(word, known, n=1)
                raise UsageError(
                    "name_unknown",
                    f'nothing that negmem compares is named "{word}"',
                    why="names are those of functions, config keys, indexes and jobs"
                    + (f"; {near[0]} is one" if near else ""),
                    hint=f"negmem diff {shlex.quote(near[0])}" if near else "negmem diff",
                )
        return frozenset(name for word in words for name in known[word])

    @property
    def functions(self) -> list[FunctionChange]:
        """The functions that differ."""
        return self._functions.items

    @property
    def comparisons(self) -> Comparisons:
        """Every managed function with what stands for it."""
        return self._functions.comparisons

    @property
    def fingerprint(self) -> str:
        """Stands for everything that was looked at; another one means that something moved."""
        stored = self.config.stored
        seen = [part.seen for part in self.parts]
        return digest(
            [__version__, stored.revision, stored.automation, self.config.yaml_hash, seen]
        )

    @property
    def _functions(self) -> FunctionPart:
        return next(part for part in self.parts if isinstance(part, FunctionPart))


def make_plan(
    session: Session,
    connection: Connection,
    *,
    take: Taken | None = None,
    for_update: bool = False,
    adopt: bool = False,
) -> Plan:
    """Compare what is declared with what stands, inside the caller's transaction.

    Args: take, which side wins where YAML and stored config both changed; for_update, lock the
    config row; adopt, judge jobs as `sync --adopt` does. Raises: NegmemError `app_unknown`, `config_missing`, `stored_config_invalid`.
    """
    config = plan_config(session, take=take, for_update=for_update)
    observed = observe(session.database, connection, app=session.app)
    functions = changes_functions.find(session, connection, config)
    indexes = changes_indexes.find(session, connection, observed)
    access: Part = (
        changes_roles.find(session, connection, observed, [functions])
        if observed.roles_requested
        else changes_access.find(session, functions.comparisons, observed)
    )
    parts: tuple[Part, ...] = (
        changes_extensions.find(session, observed),
        functions,
        access,
        changes_row_security.find(session, connection, observed),
        indexes,
        changes_embedding.find(session, observed),
        changes_learning.find(session),
        changes_jobs.find(session, config, adopt=adopt),
    )
    reduced = (functions.comparisons.reduced, indexes.reduced)
    return Plan(config, parts, tuple(dict.fromkeys(reason for reason in reduced if reason)))
