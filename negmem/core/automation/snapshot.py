"""Config, functions, jobs and capabilities at one moment; never fails for a missing capability."""

from __future__ import annotations

from negmem.config.automation import effective_automation
from negmem.core.automation.jobs import degraded_reasons, job_states
from negmem.core.automation.plan import Plan, make_plan
from negmem.core.models.change import AutomationSnapshot, Health, ManagedFunction
from negmem.core.models.diagnosis import Capabilities
from negmem.core.session import Session
from negmem.db import capabilities, cron_probes


def snapshot(session: Session) -> AutomationSnapshot:
    """The whole state of an app's automation. Changes nothing.

    Raises: NegmemError `app_unknown`, `stored_config_invalid`, and as `require_installed`.
    """
    session.require_installed()
    database = session.database
    read_only = database.facts.in_recovery or database.facts.read_only
    with database.transaction(read_only=read_only) as connection:
        plan = make_plan(session, connection)
    for reason in plan.reduced:
        session.warn("comparison_reduced", reason)
    stored = plan.config.stored
    jobs = job_states(session, stored.automation, always_look=True)
    reasons = [*_function_reasons(plan), *degraded_reasons(jobs)]
    return AutomationSnapshot(
        app=stored.app,
        is_main=stored.is_main,
        revision=stored.revision,
        updated_by=stored.updated_by,
        config=effective_automation(stored.automation).model_dump(mode="json"),
        capabilities=_capabilities(session),
        functions=_functions(session, plan),
        jobs=jobs,
        health=Health(status="degraded" if reasons else "healthy"),
        degraded_reasons=reasons,
        target=database.label,
        schema_name=database.schema,
    )


def _functions(session: Session, plan: Plan) -> list[ManagedFunction]:
    found = []
    for item in plan.comparisons.items:
        live, wanted = item.live, item.wanted
        status = item.state if item.state in ("present", "missing") else "drifted"
        found.append(
            ManagedFunction(
                name=live.definition.name if live else item.signature.partition("(")[0],
                signature=item.signature,
                schema_name=session.database.schema,
                status=status,
                reason=None if item.state == "present" else item.state,
                definition=live.text if live is not None else wanted.text if wanted else "",
            )
        )
    return found


def _function_reasons(plan: Plan) -> list[str]:
    semantic = [f.change for f in plan.functions if f.change.significance == "semantic"]
    states = {change.state for change in semantic}
    return [f"function_{state}" for state in ("missing", "drifted") if state in states]


def _capabilities(session: Session) -> Capabilities:
    database = session.database
    timeout_ms = session.config.doctor.check_timeout_ms
    server = capabilities.server_facts(database, timeout_ms=timeout_ms)
    known = capabilities.extensions(database, timeout_ms=timeout_ms)
    vector = capabilities.vector_facts(database, timeout_ms=timeout_ms)
    cron, home = cron_probes.cron_facts(database, known.get("pg_cron"), timeout_ms=timeout_ms)
    if home is not None and home is not database:
        home.close()
    libraries = cron_probes.preloaded_libraries(database, timeout_ms=timeout_ms)
    return capabilities.capabilities(server, known, vector, cron, libraries)
