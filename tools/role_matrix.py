"""What each command answers under each role of `init --roles`: the tests hold the program to it, docs show it.

A command that stands neither in MATRIX nor in WITHOUT_ROLE fails the tests.
"""

from __future__ import annotations

from typing import NamedTuple

YES = "yes"
REFUSED = "refused"


class Case(NamedTuple):
    """A command line (without `negmem`), and what comes of it as owner, app, reader and auditor.

    An answer is `yes`; `refused`, with an error that names the grant; or the code of a warning with which
    it is done, or of another error. `$MEMORY` and such stand for an id.
    """

    line: str
    owner: str
    app: str
    reader: str
    auditor: str


def everybody(*lines: str) -> list[Case]:
    """All four may."""
    return [Case(line, YES, YES, YES, YES) for line in lines]


def unrecorded(*lines: str) -> list[Case]:
    """All four may; of reader and auditor nothing is recorded, which a warning says."""
    code = "retrieval_not_recorded"
    return [Case(line, YES, YES, code, code) for line in lines]


def all_but_reader(*lines: str) -> list[Case]:
    """What logs of retrieval are needed for, which the reader may not read."""
    return [Case(line, YES, YES, REFUSED, YES) for line in lines]


def writers(*lines: str) -> list[Case]:
    """Owner and app may."""
    return [Case(line, YES, YES, REFUSED, REFUSED) for line in lines]


def trail(*lines: str) -> list[Case]:
    """Owner and auditor may."""
    return [Case(line, YES, REFUSED, REFUSED, YES) for line in lines]


def owners(*lines: str) -> list[Case]:
    """The owner alone may."""
    return [Case(line, YES, REFUSED, REFUSED, REFUSED) for line in lines]


def nobody(*lines: str) -> list[Case]:
    """None of the four may, unless the role may create schemas in the database."""
    return [Case(line, REFUSED, REFUSED, REFUSED, REFUSED) for line in lines]


MATRIX: list[Case] = [
    # set-up and health
    *owners("init"),
    Case("init --roles", YES, "roles_not_created", "roles_not_created", "roles_not_created"),
    *everybody(
        "doctor", "db migrate", "config show", "config export", "config history", "diff", "sync"
    ),
    # what runs by itself
    *everybody(
        "automation show",
        "automation logs",
        "automation export --format crontab cleanup_memories",
        "scheduler status",
    ),
    *owners(
        "config set automation.retention.min_age_days 9",
        "automation enable cleanup_memories",
        "automation disable cleanup_memories",
        "sync",  # its functions follow the config that has just been set
        "automation run cleanup_memories",
        "automation purge --yes",
        "scheduler run --once",
        "retention run --yes",
    ),
    *everybody("automation reconcile cleanup_memories"),  # it agrees
    # conversations and memories
    *writers("ingest - --format jsonl", "consolidate --user eve --extractor pattern"),
    *everybody(
        "memory list --user ann",
        "memory show $ONE",
        "memory links $ONE",
        "memory topics --user ann",
        "memory history $ONE",
    ),
    *writers(
        'memory add "她不吃辣 $N" --user ann',
        "memory rm $MEMORY",
        "memory restore $GONE_MEMORY",
        'memory edit $MEMORY --content "Ann drinks coffee $N"',
        "memory undo $EDITED_MEMORY",
        "memory pin $MEMORY",
        "memory unpin $PINNED",
        "memory link $MEMORY $ONE",
        "memory unlink $PINNED $ONE",
        "curator prune --user ben --max-count 1 --yes",
        "curator dedup --user dup --yes",
    ),
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
        'fact set preference "饮料 $N" tea --user ann',
        "fact rm $FACT",
        "fact restore $GONE_FACT",
        "conflict resolve $CONFLICT keep_old",
        "summary refresh --user ann --extractor pattern",
        'core set persona "likes tea $N" --user ann',
        "core rm $BLOCK --user ann",
        'instruction set tone "be brief $N"',
    ),
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
        "decision list --user ann",
        "decision show $DECIDED --user ann",
        "namespace list",
        "proposals list",
        "proposals show $PROPOSAL",
        "proposals export --output $FOLDER/proposals$N.jsonl",
        "tools list",
        "tools schema memory_search",
    ),
    *writers(
        'profile set city "上海 $N" --user ann',
        "profile unset city --user $KNOWN",
        'entity add "firm_$N" --type company --name "Firm $N"',
        'entity fact acme "makes tea $N"',
        'entity event acme "founded $N"',
        'entity relate acme "knows_$N" brew',
        'entity replace acme $FIRM_FACT "none $N"',
        "entity rm $FIRM",
        "entity undo $EDITED_FIRM",
        "profile undo city --user $KNOWN",
        'learn save --title "tea $N" --learning "steep $N min" --anyway',
        'learn edit $LESSON --context "at home $N"',
        "learn rm $LESSON",
        "learn undo $EDITED_LESSON",
        'decision add "brew $N" --user ann',
        'decision outcome $DECISION "good tea $N" --user ann',
        "decision rm $DECISION --user ann",
        "decision undo $DECIDED --user ann",
        'namespace create "team-$N"',
        'namespace grant team-x "person$N"',
        "namespace revoke team-x $MEMBER",
        'proposals edit $PROPOSAL --set "title=rinsed $N"',
        "proposals approve $PROPOSAL",
        "proposals reject $PROPOSAL",
        "proposals approve-all $PROPOSAL --yes",
        "proposals reject-all $PROPOSAL --yes",
        'tools call memory_write --user ann --arguments \'{"content": "likes tea $N"}\'',
    ),
    # searching, and what it was good for
    *unrecorded("search 吃 --user ann", "context tea --user ann", "recall --user ann"),
    *writers("feedback $RETRIEVAL helpful"),
    *all_but_reader("metrics", "retention preview --user ann"),
    *everybody("retention curve $ONE --user ann", "retention explain $ONE --user ann"),
    *writers("retention purge --yes"),
    # embedding, measuring
    *everybody("top", "embed status", "report --out $FOLDER/report$N.html"),
    *owners("embed migrate --cancel --yes", "bench history"),
    *nobody(
        "bench retrieval --dataset own --data $BENCH",
        "bench load --rows 10 --users 1 --clients 1 --seconds 0.1",
    ),
    # governance
    *owners(
        "audit retain $MEMORY --user ann",
        "audit delete $MEMORY --user ann --yes",
        "audit anonymize $MEMORY --user ann --yes",
        "audit apply - --user ann --yes",
        "audit erase --user $LEAVER --yes",
        "audit replay $ERASED --yes",
    ),
    *trail(
        "audit history --user ann",
        "audit head",
        "audit verify",
        "audit export --user ann --output $FOLDER/out$N.jsonl",
        "audit disclose --user ann --output $FOLDER/page$N.html",
    ),
    *everybody("user show --user ann", "user picture --user ann", "pii scan --user ann"),
    *writers(
        "user pause --user $PERSON",
        "user resume --user $PERSON",
        "user hold --user held --reason law",
        "user release --user held",
        "import $EXPORT --yes",
        "pii fix --policy mask --user $PERSON --yes",
    ),
    # the end: as reader, auditor and app first
    *everybody("uninstall --dry-run"),
    *owners("uninstall --yes"),
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
    "mcp serve": "offers tools; each call answers as `tools call` does",
    "completions show": "prints what the program knows",
    "completions install": "writes a file",
}
