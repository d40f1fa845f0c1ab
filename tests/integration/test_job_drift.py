"""What `diff` says of jobs that were altered by hand, and `sync` does about it: a catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from negmem.core import installation
from negmem.core.automation.job_changes import JobScope
from negmem.core.automation.jobs import job_states, reconcile
from negmem.core.automation.part import Consent
from negmem.core.automation.stored import read_stored
from negmem.core.automation.sync import diff, sync
from negmem.core.models.change import Change, Difference, Job
from negmem.core.session import Session, open_session
from tests.support.databases import TestDatabase
from tests.support.jobs import CronDesk, cron_desk
from tests.support.roles import login_role

pytestmark = pytest.mark.needs_cron

C, T, R = "cleanup_memories", "trigger_consolidation", "reweight_relevance"
COMMAND = "SELECT negentropy.cleanup_low_value_memories(0.0001, 640, 0.1)"


@pytest.fixture
def desk(database: TestDatabase) -> Iterator[CronDesk]:
    with cron_desk(database, on=(C, T)) as made:
        yield made


@pytest.fixture
def session(database: TestDatabase, desk: CronDesk) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={}) as opened:
        yield opened


def job_changes(session: Session) -> list[Change]:
    return [change for change in found(session).changes if change.kind == "job"]


def found(session: Session) -> Difference:
    return diff(session)


def states(session: Session) -> dict[str, str]:
    return {job.job_key: job.status for job in jobs(session)}


def jobs(session: Session) -> list[Job]:
    return job_states(session, read_stored(session).automation)


def schedule(desk: CronDesk, name: str, **change: Any) -> int:
    values = {
        "name": name,
        "schedule": "0 2 * * *",
        "command": COMMAND,
        "database": desk.database.name,
        **change,
    }
    return int(
        desk.sql(
            "SELECT cron.schedule_in_database(%(name)s, %(schedule)s, %(command)s, %(database)s)"
            " AS id",
            values,
        )[0]["id"]
    )


def unschedule(desk: CronDesk) -> int:
    job_id = int(desk.job()["jobid"])
    desk.sql("SELECT cron.unschedule(%s)", (job_id,))
    return job_id


def add_app(desk: CronDesk, name: str, retention: str) -> None:
    desk.database.rows(
        "INSERT INTO negentropy.memory_automation_configs (app_name, config) VALUES (%s,"
        " jsonb_build_object('retention', %s::jsonb, 'jobs', jsonb_build_object('prefix', %s::text)))",
        (name, retention, desk.prefix),
    )


@dataclass(frozen=True)
class Alteration:
    """What someone does to a job, and what negmem says: reason, action, and if `sync` mends it."""

    what: str
    act: Callable[[CronDesk], Any]
    reason: str
    action: str
    state: str = "drifted"
    is_mended: bool = True
    job: str = C


ALTERATIONS = [
    Alteration("another schedule", lambda d: d.alter(schedule="0 3 * * *"), "schedule", "update"),
    Alteration("seconds", lambda d: d.alter(schedule="30 seconds"), "schedule", "update"),
    Alteration(
        "another threshold",
        lambda d: d.alter(command=COMMAND.replace("0.0001,", "0.5,")),
        "command",
        "update",
    ),
    Alteration("a foreign command", lambda d: d.alter(command="SELECT 1"), "command", "update"),
    Alteration(
        "another schema",
        lambda d: d.alter(command=COMMAND.replace("negentropy", "elsewhere")),
        "command",
        "update",
    ),
    Alteration(
        "more after the command",
        lambda d: d.alter(command=COMMAND + "; DROP TABLE x"),
        "command",
        "update",
    ),
    Alteration("not active", lambda d: d.alter(active=False), "active", "update"),
    Alteration("another database", lambda d: d.alter(database="postgres"), "database", "update"),
    Alteration("another owner", lambda d: d.alter(username="negmem_login"), "owner", "update"),
    Alteration(
        "schedule, command and active at once",
        lambda d: d.alter(schedule="1 1 * * *", command="SELECT 2", active=False),
        "schedule, command, active",
        "update",
    ),
    Alteration("unscheduled", unschedule, "missing", "create", "missing"),
    Alteration("switched off", lambda d: d.turn(C, False), "switched_off", "delete"),
    Alteration(
        "schedule changed in the config",
        lambda d: d.turn(C, True, schedule="30 4 * * 1"),
        "schedule",
        "update",
    ),
    Alteration(
        "threshold changed in the config",
        lambda d: d.configure({"retention": {"low_retention_threshold": 0.2}}),
        "command",
        "update",
    ),
    Alteration("switched on", lambda d: d.turn(R), "missing", "create", "missing", job=R),
    Alteration(
        "the same command under another name",
        lambda d: schedule(d, "theirs"),
        "duplicate",
        "update",
        is_mended=False,
    ),
    Alteration(
        "unscheduled and made anew by hand, otherwise",
        lambda d: (unschedule(d), schedule(d, d.name(C), schedule="9 9 * * *")),
        "schedule, not_recorded",
        "update",
        is_mended=False,
    ),
    Alteration(
        "its name taken by another command",
        lambda d: (unschedule(d), schedule(d, d.name(C), command="VACUUM")),
        "command, not_recorded",
        "update",
        is_mended=False,
    ),
]


@pytest.mark.parametrize("case", ALTERATIONS, ids=lambda case: case.what)
def test_an_alteration_is_found_named_and_mended(
    session: Session, desk: CronDesk, case: Alteration
) -> None:
    sync(session)
    assert not found(session).drift
    case.act(desk)
    (change,) = job_changes(session)
    assert (change.name, change.state, change.reason, change.action, change.significance) == (
        desk.name(case.job),
        case.state,
        case.reason,
        case.action,
        "semantic",
    )
    assert found(session).drift
    report = sync(session)
    named = [
        c.name for c in (report.applied if case.is_mended else report.skipped) if c.kind == "job"
    ]
    assert named == [desk.name(case.job)]
    if case.is_mended:
        assert job_changes(session) == []
        assert sync(session).applied == []
    else:
        assert all(skipped.hint for skipped in report.skipped)
        assert job_changes(session) == [change]


HARMLESS: list[tuple[str, Callable[[CronDesk], Any]]] = [
    ("a job of another product", lambda d: schedule(d, d.prefix + "nightly", command="VACUUM")),
    ("a job without a name", lambda d: schedule(d, "", command="ANALYZE")),
    (
        "our name in another database, of another owner",
        lambda d: d.alter(
            job_id=schedule(d, d.name(R), database="postgres"), username="negmem_login"
        ),
    ),
    ("spacing in the schedule", lambda d: d.alter(schedule="0  2 * * *")),
    ("zeros before the hour", lambda d: d.alter(schedule="00 02 * * *")),
    ("a semicolon after the command", lambda d: d.alter(command=COMMAND + ";")),
    (
        "spacing and case in the command",
        lambda d: d.alter(command=COMMAND.replace("SELECT ", "select  /* nightly */ ")),
    ),
    ("a run on record", lambda d: d.sql("SELECT 1")),
]


@pytest.mark.parametrize(("what", "act"), HARMLESS, ids=[what for what, _ in HARMLESS])
def test_what_is_harmless_is_no_drift_and_stays(
    session: Session, desk: CronDesk, what: str, act: Callable[[CronDesk], Any]
) -> None:
    sync(session)
    act(desk)
    before = desk.jobs()
    difference = found(session)
    assert not difference.drift
    report = sync(session)
    assert (report.applied, report.skipped, report.degraded_reasons) == ([], [], [])
    assert desk.jobs() == before


def test_jobs_of_others_are_shown_and_never_touched(session: Session, desk: CronDesk) -> None:
    theirs = schedule(desk, "nightly-vacuum", command="VACUUM")
    sync(session)
    desk.turn(C, False)
    desk.turn(T, False)
    sync(session, Consent(prune=True))
    assert [row["jobid"] for row in desk.jobs()] == [theirs]
    named = [thing.name for thing in found(session).unmanaged if thing.kind == "job"]
    assert named == []  # nothing is on or recorded: pg_cron is not even asked
    desk.turn(C)
    assert [thing.name for thing in found(session).unmanaged if thing.kind == "job"] == [
        "nightly-vacuum"
    ]


def test_a_name_of_the_same_owner_in_another_database_is_not_replaced(
    session: Session, desk: CronDesk
) -> None:
    other = schedule(desk, desk.name(C), database="postgres", command="VACUUM")
    report = sync(session)
    (skipped,) = [s for s in report.skipped if s.name == desk.name(C)]
    assert "pg_cron would replace it" in skipped.why
    assert desk.sql("SELECT command FROM cron.job WHERE jobid = %s", (other,)) == [
        {"command": "VACUUM"}
    ]
    desk.sql("SELECT cron.unschedule(%s)", (other,))


def test_reconcile_takes_over_what_was_scheduled_by_hand(session: Session, desk: CronDesk) -> None:
    by_hand = schedule(desk, desk.name(C), schedule="9 9 * * *")
    assert [s.name for s in sync(session).skipped] == [desk.name(C)]
    done = reconcile(session, C)
    assert (done.job.status, done.job.job_id) == ("scheduled", by_hand)
    assert desk.job()["schedule"] == "0 2 * * *"
    assert not found(session).drift


def test_what_an_administrator_scheduled_rightly_is_taken_into_the_record(
    session: Session, desk: CronDesk
) -> None:
    desk.turn(T, False)
    by_hand = schedule(desk, desk.name(C))
    assert sync(session).applied == []
    recorded = desk.database.rows(
        "SELECT job_id, owner_name, database_name FROM negentropy.managed_objects WHERE kind = 'job'"
    )
    assert recorded == [(by_hand, "postgres", desk.database.name)]


def test_each_app_with_a_config_has_jobs_of_its_own(session: Session, desk: CronDesk) -> None:
    add_app(
        desk,
        "订单's",
        '{"auto_cleanup_enabled": true, "low_retention_threshold": 0.3, "max_share": 0.5}',
    )
    sync(session)
    row = next(row for row in desk.jobs() if "@" in row["jobname"])
    assert row["jobname"] == desk.name(C) + "@订单's"
    assert row["command"] == (
        "SELECT negentropy.cleanup_low_value_memories(0.3, 640, 0.1, p_app_name => '订单''s',"
        " p_max_share => 0.5, p_max_rows => 10000)"
    )
    assert desk.database.rows(row["command"]) == [(0,)]
    assert not found(session).drift
    desk.database.rows("DELETE FROM negentropy.memory_automation_configs WHERE NOT is_main")
    (change,) = job_changes(session)
    assert (change.reason, change.action) == ("no_longer_wanted", "delete")
    assert [s.hint for s in sync(session).skipped] == ["negmem sync --prune"]
    assert [c.name for c in sync(session, Consent(prune=True)).applied] == [row["jobname"]]
    assert len(desk.jobs()) == 2


def test_a_new_prefix_renames_the_jobs(session: Session, desk: CronDesk) -> None:
    sync(session)
    new = desk.prefix[:-2] + "x."
    desk.configure({"jobs": {"prefix": new}})
    sync(session)
    assert [row["jobname"] for row in desk.jobs()] == [new + C, new + T]
    assert not found(session).drift


def test_a_name_that_is_too_long_is_refused(session: Session, desk: CronDesk) -> None:
    add_app(desk, "很" * 20, '{"auto_cleanup_enabled": true}')
    with pytest.raises(Exception, match="at most 63") as refusal:
        sync(session)
    assert getattr(refusal.value, "code", "") == "job_name_too_long"
    assert desk.jobs() == []


def test_a_copy_of_the_database_leaves_the_jobs_of_the_original(
    session: Session, desk: CronDesk
) -> None:
    sync(session)
    before = desk.jobs()
    desk.database.rows("UPDATE negentropy.managed_objects SET database_name = 'original'")
    desk.alter(database="postgres")
    report = sync(session)
    (skipped,) = [s for s in report.skipped if s.name == desk.name(C)]
    assert 'database "postgres" has this name' in skipped.why
    assert 'record is of database "original", this is a copy' in skipped.why
    assert [row["jobid"] for row in desk.jobs()] == [row["jobid"] for row in before]


def test_when_the_jobs_fail_the_answer_says_what_stands(session: Session, desk: CronDesk) -> None:
    desk.sql(
        "CREATE FUNCTION cron.negmem_t_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN IF NEW.database = TG_ARGV[0] THEN RAISE 'no more jobs'; END IF; RETURN NEW; END $$"
    )
    try:
        desk.sql(
            "CREATE TRIGGER negmem_t_refuse BEFORE INSERT ON cron.job FOR EACH ROW"
            f" EXECUTE FUNCTION cron.negmem_t_refuse('{desk.database.name}')"
        )
        desk.configure({"retention": {"low_retention_threshold": 0.2}})
        with pytest.raises(Exception, match="the jobs do not") as failure:
            sync(session)
    finally:
        desk.sql("DROP FUNCTION cron.negmem_t_refuse CASCADE")
    assert getattr(failure.value, "code", "") == "jobs_not_applied"
    assert "no more jobs" in getattr(failure.value, "why", "")
    # The half that stands: the functions have the new threshold.
    assert [change.kind for change in found(session).changes] == ["job", "job"]
    assert {c.kind for c in sync(session).applied} == {"job"}


@pytest.fixture
def role(database: TestDatabase, desk: CronDesk) -> Iterator[str]:
    cron = str(database.server.cron_database)
    with login_role(
        database.server, database.name, cron, attributes="IN ROLE pg_read_all_settings"
    ) as name:
        database.rows(f'GRANT USAGE, CREATE ON SCHEMA negentropy TO "{name}"')
        database.rows(f'GRANT ALL ON ALL TABLES IN SCHEMA negentropy TO "{name}"')
        database.rows(f'GRANT TEMP ON DATABASE "{database.name}" TO "{name}"')
        yield name
        desk.clean()


def as_role(database: TestDatabase, role: str) -> Session:
    return open_session(dsn=make_conninfo(database.dsn, user=role), env={})


def test_usage_alone_is_told_with_the_missing_grant(
    database: TestDatabase, desk: CronDesk, role: str
) -> None:
    desk.sql(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
    with as_role(database, role) as limited:
        done = reconcile(limited, C)
    (skipped,) = done.skipped
    assert "GRANT EXECUTE ON FUNCTION cron.schedule_in_database" in skipped.hint
    assert f"'{role}')" in skipped.hint  # and the statement that an administrator may run instead
    assert (done.job.status, desk.jobs()) == ("missing", [])
    statement = skipped.hint.partition("an administrator run: ")[2]
    desk.sql(statement)
    with as_role(database, role) as limited:
        again = reconcile(limited, C)
    assert (again.job.status, again.skipped) == ("scheduled", [])
    assert desk.job()["username"] == role


def test_with_the_grant_a_limited_role_schedules_alters_and_removes(
    database: TestDatabase, desk: CronDesk, role: str
) -> None:
    desk.sql(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
    desk.sql(f'GRANT EXECUTE ON FUNCTION cron.schedule_in_database TO "{role}"')
    with as_role(database, role) as limited:
        assert reconcile(limited, C).job.status == "scheduled"
        first = desk.job()
        assert first["username"] == role
        desk.alter(active=False)
        # It may not call alter_job: the job is scheduled anew.
        assert reconcile(limited, C).job.status == "scheduled"
        assert desk.job()["jobid"] != first["jobid"]
        desk.turn(C, False)
        assert reconcile(limited, C).job.status == "disabled"
    assert desk.jobs() == []


def test_jobs_of_another_role_are_unknown_and_not_made_twice(
    database: TestDatabase, desk: CronDesk, role: str, session: Session
) -> None:
    sync(session)
    desk.sql(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
    desk.sql(f'GRANT EXECUTE ON FUNCTION cron.schedule_in_database TO "{role}"')
    database.rows(f'GRANT pg_read_all_data TO "{role}"')
    before = desk.jobs()
    with as_role(database, role) as limited:
        done = reconcile(limited, C)
        assert done.job.status == "unknown"
        assert f"visible as {role}: 0 of unknown; postgres scheduled it" in done.job.reason
        with JobScope(limited) as scope:
            view = scope.view(read_stored(limited).automation)
            assert scope.changes(view) == []
    assert desk.jobs() == before


def test_adopting_takes_over_what_negmem_did_not_record(
    database: TestDatabase, desk: CronDesk, role: str, session: Session
) -> None:
    adopt = Consent(adopt=True)
    # As the same role, by hand, otherwise than wanted: shown, and left without the word.
    job_id = schedule(desk, desk.name(C), schedule="0 5 * * *")
    left = next(s for s in sync(session).skipped if s.name == desk.name(C))
    assert "negmem sync --adopt" in left.hint
    planned = sync(session, adopt, dry_run=True)
    assert [(c.name, c.action) for c in planned.applied] == [(desk.name(C), "update")]
    assert "0 5 * * *" in str(planned.applied[0].before)
    assert desk.job()["schedule"] == "0 5 * * *"
    done = sync(session, adopt)
    assert ([c.name for c in done.applied], done.degraded_reasons) == ([desk.name(C)], [])
    assert (desk.job()["jobid"], desk.job()["schedule"]) == (job_id, "0 2 * * *")
    assert sync(session, adopt).applied == []
    # One of another role that a superuser sees keeps its owner.
    database.rows("DELETE FROM negentropy.managed_objects WHERE kind = 'job'")
    desk.alter(username=role, schedule="0 5 * * *")
    assert desk.name(C) in {s.name for s in sync(session).skipped}
    assert desk.job()["schedule"] == "0 5 * * *"
    sync(session, adopt)
    assert (desk.job()["schedule"], desk.job()["username"]) == ("0 2 * * *", role)
    assert found(session).drift is False
    # One that calls something else is somebody's own, whatever its name.
    database.rows("DELETE FROM negentropy.managed_objects WHERE kind = 'job'")
    desk.alter(command="SELECT 1")
    assert desk.name(C) in {s.name for s in sync(session, adopt).skipped}
    assert desk.job()["command"] == "SELECT 1"


def test_adopting_makes_anew_what_another_role_hides(
    database: TestDatabase, desk: CronDesk, role: str, session: Session
) -> None:
    sync(session)
    desk.sql("SELECT cron.unschedule(%s)", (desk.job()["jobid"],))
    desk.sql(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
    desk.sql(f'GRANT EXECUTE ON FUNCTION cron.schedule_in_database TO "{role}"')
    with as_role(database, role) as limited:
        assert sync(limited).applied == []
        done = sync(limited, Consent(adopt=True))
        assert {c.name for c in done.applied} == {desk.name(C), desk.name(T)}
        assert states(limited)[C] == "scheduled"
    assert desk.job()["username"] == role


def test_a_role_with_one_connection_is_told_that_it_can_not_tell(
    database: TestDatabase, desk: CronDesk, role: str, session: Session
) -> None:
    sync(session)
    before = desk.jobs()
    desk.sql(f'ALTER ROLE "{role}" CONNECTION LIMIT 1')
    with as_role(database, role) as limited:
        assert diff(limited, [desk.name(C)]).changes == []
        assert {w["code"] for w in limited.warnings} >= {"job_unknown_state"}
        (job,) = [job for job in jobs(limited) if job.job_key == C]
        assert job.status == "unknown"
        assert "connection" in job.reason
    assert desk.jobs() == before


def test_two_roles_make_one_job(
    database: TestDatabase, desk: CronDesk, role: str, session: Session
) -> None:
    desk.sql(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
    desk.sql(f'GRANT EXECUTE ON FUNCTION cron.schedule_in_database TO "{role}"')
    with as_role(database, role) as limited:
        reconcile(limited, C)
    assert reconcile(session, C).applied == []
    unschedule(desk)
    # The superuser gives it back to whom it belonged.
    assert reconcile(session, C).job.status == "scheduled"
    assert desk.job()["username"] == role


def test_eight_at_once_end_in_one_result(
    database: TestDatabase, desk: CronDesk, session: Session
) -> None:
    desk.turn(R)

    def one(_: int) -> tuple[int, int]:
        with open_session(dsn=database.dsn, env={}) as opened:
            report = sync(opened)
            return len(report.applied), len(report.skipped)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(one, range(8)))
    assert all(skipped == 0 for _, skipped in done)
    assert [row["jobname"] for row in desk.jobs()] == sorted(map(desk.name, (C, T, R)))
    recorded = database.rows(
        "SELECT job_id FROM negentropy.managed_objects WHERE kind = 'job' ORDER BY job_id"
    )
    assert [row[0] for row in recorded] == sorted(row["jobid"] for row in desk.jobs())
    assert not found(session).drift


def test_uninstall_takes_the_jobs_along(
    database: TestDatabase, desk: CronDesk, session: Session
) -> None:
    sync(session)
    theirs = schedule(desk, "nightly-vacuum", command="VACUUM")
    would = installation.reach(session)
    assert would.jobs == [desk.name(C), desk.name(T)]
    assert len(desk.jobs()) == 3
    gone = installation.uninstall(session)
    assert (gone.jobs, gone.kept_jobs) == (would.jobs, {})
    assert [row["jobid"] for row in desk.jobs()] == [theirs]
