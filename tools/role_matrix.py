"""What each command answers under each role of `init --roles`: the tests hold the program to it, docs show it.

A command that stands neither in MATRIX nor in WITHOUT_ROLE fails the tests.
"""

from __future__ import annotations

from typing import NamedTuple

YES = "yes"


class Case(NamedTuple):
    """A command line (without `negmem`), and what comes of it as owner, app, reader and auditor.

    An answer is `yes`, the code of a warning with which it is done or of the error that it ends with, or what the
    role lacks and which of the four roles has it: that is what the error says. `$MEMORY` and such stand for an id.
    """

    line: str
    owner: str
    app: str
    reader: str
    auditor: str


def lacks(privileges: str, thing: str, holder: str) -> str:
    """The answer to a role that lacks privileges on a thing, which `holder` has."""
    return f"lacks {privileges} on {thing}, {holder} has it"


def everybody(*lines: str) -> list[Case]:
    """All four may."""
    return [Case(line, YES, YES, YES, YES) for line in lines]


def unrecorded(*lines: str) -> list[Case]:
    """All four may; of reader and auditor nothing is recorded, which a warning says."""
    code = "retrieval_not_recorded"
    return [Case(line, YES, YES, code, code) for line in lines]


def writers(privileges: str, table: str, *lines: str) -> list[Case]:
    """Owner and app may."""
    refused = lacks(privileges, f"table {table}", "app")
    return [Case(line, YES, YES, refused, refused) for line in lines]


def owners(privileges: str, table: str, *lines: str) -> list[Case]:
    """The owner alone may."""
    refused = lacks(privileges, f"table {table}", "owner")
    return [Case(line, YES, refused, refused, refused) for line in lines]


def nobody(answer: str, *lines: str) -> list[Case]:
    """None of the four may."""
    return [Case(line, answer, answer, answer, answer) for line in lines]


_USER = ("UPDATE", "users")  # a writer holds the row of the person
_TRAIL = lacks("SELECT", "table memory_audit_logs", "auditor")
_DETAILS = lacks("SELECT", "table audit_details", "auditor")
_KEYS = lacks("SELECT", "table audit_keys", "owner")
_NO_ROLES = "roles_not_created"
_NOT_OWNED = "lacks CREATE on schema negentropy, owner has it"
_LOGS = lacks("SELECT", "table memory_retrieval_logs", "auditor")
_FEEDBACK = lacks("SELECT", "table retrieval_feedback", "auditor")


def decided(*lines: str) -> list[Case]:
    """Decisions about a person are the owner's: they are written under the person's key."""
    keys = lacks("SELECT, INSERT, UPDATE, DELETE", "table audit_keys", "owner")
    users = lacks("UPDATE", "table users", "app")
    return [Case(line, YES, keys, users, users) for line in lines]


MATRIX: list[Case] = [
    # set-up and health
    *owners("INSERT", "installation", "init"),
    Case("init --roles", YES, _NO_ROLES, _NO_ROLES, _NO_ROLES),
    *everybody("doctor", "db migrate", "config show", "config export", "diff", "sync"),
    # what runs by itself
    *everybody(
        "automation show",
        "automation logs",
        "automation export --format crontab cleanup_memories",
        "scheduler status",
    ),
    *owners(
        "UPDATE",
        "memory_automation_configs",
        "config set automation.retention.min_age_days 9",
        "automation enable cleanup_memories",
        "automation disable cleanup_memories",
    ),
    # its functions follow the config that has just been set
    Case("sync", YES, _NOT_OWNED, _NOT_OWNED, _NOT_OWNED),
    *everybody("automation reconcile cleanup_memories"),
    *owners("INSERT", "automation_runs", "automation run cleanup_memories", "retention run --yes"),
    *owners("UPDATE, DELETE", "automation_runs", "automation purge --yes"),
    *owners("INSERT, UPDATE", "scheduler_leader", "scheduler run --once"),
    # conversations and memories
    *writers("INSERT", "threads", "ingest - --format jsonl"),
    *writers("UPDATE", "consolidation_jobs", "consolidate --user eve --extractor pattern"),
    *everybody(
        "memory list --user ann",
        "memory show $ONE",
        "memory links $ONE",
        "memory topics --user ann",
        "memory history $ONE",
    ),
    *writers(
        *_USER,
        'memory add "她不吃辣 $N" --user ann',
        "memory rm $MEMORY",
        "memory link $MEMORY $ONE",
    ),
    *writers(
        "UPDATE",
        "memories",
        'memory edit $MEMORY --content "Ann drinks coffee $N"',
        "memory restore $GONE_MEMORY",
        "memory pin $MEMORY",
        "memory unpin $PINNED",
        "curator prune --user ben --max-count 1 --yes",
    ),
    *writers("UPDATE", "memory_associations", "memory unlink $PINNED $ONE"),
    # facts, summaries, blocks, instructions
    *everybody(
        "fact list --user ann",
        "fact show $FACT",
        "fact history $FACT",
        "fact search 茶 --user ann",
        "conflict list --user ann",
        "conflict show $CONFLICT",
        "summary show --user ann",
        "core show persona --user ann",
        "instruction list",
    ),
    *writers(
        *_USER,
        'fact set preference "饮料 $N" tea --user ann',
        "fact rm $FACT",
        'core set persona "likes tea $N" --user ann',
        "summary refresh --user ann --extractor pattern",
    ),
    *writers("UPDATE", "facts", "fact restore $GONE_FACT"),
    *writers("UPDATE", "memory_conflicts", "conflict resolve $CONFLICT keep_old"),
    *writers("UPDATE", "memory_core_blocks", "core rm $BLOCK --user ann"),
    *writers("INSERT", "instructions", 'instruction set tone "be brief $N"'),
    *everybody("instruction show tone"),
    # what is learned
    *everybody(
        "profile show --user ann",
        "entity list",
        "entity show acme",
        "entity search tea",
        "learn search tea",
        "learn list",
        "learn show $LESSON",
        "learn versions $EDITED_LESSON",
        "namespace list",
    ),
    *writers(*_USER, 'profile set city "上海 $N" --user ann', "profile unset city --user $KNOWN"),
    *writers("INSERT", "entities", 'entity add "firm_$N" --type company --name "Firm $N"'),
    *writers(
        "INSERT",
        "shared_item_versions",
        'entity fact acme "makes tea $N"',
        'entity event acme "founded $N"',
    ),
    *writers("INSERT, UPDATE, DELETE", "shared_vectors", 'entity relate acme "knows_$N" brew'),
    *writers(
        "INSERT", "learnings", 'learn save --title "tea $N" --learning "steep $N min" --anyway'
    ),
    *writers(
        "UPDATE",
        "learnings",
        'learn edit $LESSON --context "at home $N"',
        "learn rm $LESSON",
        "learn undo $EDITED_LESSON",
    ),
    *writers(
        "UPDATE",
        "namespaces",
        'namespace create "team-$N"',
        'namespace grant team-x "person$N"',
        "namespace revoke team-x $MEMBER",
    ),
    *everybody(
        "proposals list", "proposals show $PROPOSAL", "tools list", "tools schema memory_search"
    ),
    *writers("UPDATE", "proposals", "proposals approve $PROPOSAL", "proposals reject $PROPOSAL"),
    *writers(
        *_USER,
        'tools call memory_write --user ann --arguments \'{"content": "likes tea $N"}\'',
    ),
    # searching
    *unrecorded("search 吃 --user ann", "context tea --user ann", "recall --user ann"),
    Case(
        "feedback $RETRIEVAL helpful",
        YES,
        YES,
        _LOGS,
        lacks("UPDATE", "table memory_retrieval_logs", "app"),
    ),
    Case("metrics", YES, YES, _FEEDBACK, YES),
    Case("retention preview --user ann", YES, YES, _LOGS, YES),
    *everybody("retention curve $ONE --user ann", "retention explain $ONE --user ann"),
    *writers("UPDATE", "memories", "curator dedup --user dup --yes"),
    Case("retention purge --yes", YES, YES, _LOGS, lacks("UPDATE", "table users", "app")),
    # embedding, measuring
    *everybody("embed status"),
    Case(
        "embed migrate --cancel --yes",
        YES,
        lacks("DELETE", "table embedding_models", "owner"),
        lacks("DELETE", "table memory_vectors", "app"),
        lacks("DELETE", "table memory_vectors", "app"),
    ),
    *owners("SELECT", "benchmark_runs", "bench history"),
    *nobody(
        "lacks CREATE on database, nobody has it",
        "bench retrieval --dataset own --data $BENCH",
        "bench load --rows 10 --users 1 --clients 1 --seconds 0.1",
    ),
    # governance
    *decided(
        "audit retain $MEMORY --user ann",
        "audit delete $MEMORY --user ann --yes",
        "audit anonymize $MEMORY --user ann --yes",
        "audit apply - --user ann --yes",
    ),
    Case("audit history --user ann", YES, _DETAILS, _DETAILS, YES),
    Case("audit head", YES, _TRAIL, _TRAIL, YES),
    Case("audit verify", YES, _TRAIL, _TRAIL, _KEYS),
    *owners("SELECT, INSERT, UPDATE, DELETE", "installation", "audit erase --user $LEAVER --yes"),
    *owners("SELECT", "installation", "audit replay $ERASED --yes"),
    Case(
        "audit export --user ann --output $FOLDER/out$N.jsonl",
        YES,
        _DETAILS,
        _LOGS,
        lacks("SELECT", "table tool_calls", "app"),
    ),
    *everybody("user show --user ann"),
    *writers(
        "INSERT, UPDATE",
        "users",
        "user pause --user $PERSON",
        "user resume --user $PERSON",
        "user hold --user $PERSON --reason law",
        "user release --user $PERSON",
    ),
    *writers("INSERT", "users", "import $EXPORT --yes"),
    *everybody("pii scan --user ann"),
    *writers("UPDATE", "memories", "pii fix --policy mask --user $PERSON --yes"),
    # the end: as app, reader and auditor first
    *everybody("uninstall --dry-run"),
    Case("uninstall --yes", YES, "privilege_missing", "privilege_missing", "privilege_missing"),
]

# Commands that no role of the database has a say in.
WITHOUT_ROLE: dict[str, str] = {
    "demo": "the embedded database, as its superuser",
    "db start": "the embedded database",
    "db stop": "the embedded database",
    "db status": "the embedded database",
    "db url": "the embedded database",
    "db psql": "psql, as whoever the connection string names",
    "db upgrade": "the embedded database",
    "config validate": "reads the YAML",
    "config schema": "prints what the program knows",
    "config path": "names a file",
    "bench judge": "as bench retrieval, once a language model is configured",
    "completions show": "prints what the program knows",
    "completions install": "writes a file",
}
