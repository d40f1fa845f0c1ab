"""Which model `--json` prints under which name; several where a dry run answers otherwise."""

from __future__ import annotations

import importlib
from typing import Any

from pydantic import BaseModel, TypeAdapter

DOCUMENTS: dict[str, tuple[str, ...]] = {
    "init/1": ("negmem.core.setup:Setup", "negmem.core.setup:PlannedSetup"),
    "config.show/1": ("negmem.core.models.config:ConfigShown",),
    "config.set/1": ("negmem.core.models.config:ConfigChange",),
    "config.export/1": ("negmem.core.models.config:ConfigExport",),
    "config.history/1": ("negmem.core.models.config:ConfigHistory",),
    "config.validate/1": ("negmem.core.models.config:ConfigValidation",),
    "config.schema/1": ("negmem.core.models.config:ConfigSchema",),
    "config.path/1": ("negmem.core.models.config:ConfigPath",),
    "doctor/1": ("negmem.core.models.diagnosis:Diagnosis",),
    "doctor.list/1": ("negmem.core.models.diagnosis:CheckList",),
    "top/1": ("negmem.core.models.top:Top",),
    "report/1": ("negmem.core.models.report:Report",),
    "demo/1": ("negmem.core.demo:Demo",),
    "uninstall/1": ("negmem.core.installation:Reach",),
    "db.start/1": ("negmem.core.cluster:ClusterStatus",),
    "db.stop/1": ("negmem.core.cluster:ClusterStatus",),
    "db.status/1": ("negmem.core.cluster:ClusterStatus",),
    "db.url/1": ("negmem.core.cluster:ClusterStatus",),
    "db.migrate/1": ("negmem.core.cluster:SchemaStatus",),
    "db.upgrade/1": ("negmem.core.cluster:SchemaStatus",),
    "ingest/1": ("negmem.core.models.ingest:Ingested",),
    "consolidate/1": ("negmem.core.models.consolidation:Consolidated",),
    "consolidate.list/1": ("negmem.core.models.consolidation:Queue",),
    "memory.add/1": ("negmem.core.models.memory:AddedMemory",),
    "memory.list/1": ("negmem.core.models.memory:MemoryList",),
    "memory.show/1": ("negmem.core.models.memory:Memory",),
    "memory.edit/1": ("negmem.core.models.memory:Memory",),
    "memory.undo/1": ("negmem.core.models.memory:Memory",),
    "memory.rm/1": ("negmem.core.models.memory:MemoryChange",),
    "memory.restore/1": ("negmem.core.models.memory:MemoryChange",),
    "memory.pin/1": ("negmem.core.models.memory:MemoryChange",),
    "memory.unpin/1": ("negmem.core.models.memory:MemoryChange",),
    "memory.link/1": ("negmem.core.models.association:LinkChange",),
    "memory.unlink/1": ("negmem.core.models.association:LinkChange",),
    "memory.links/1": ("negmem.core.models.association:LinkedItems",),
    "memory.topics/1": ("negmem.core.models.association:TopicList",),
    "memory.history/1": ("negmem.core.models.memory_history:MemoryHistory",),
    "fact.set/1": ("negmem.core.models.fact:WrittenFact",),
    "fact.list/1": ("negmem.core.models.fact:FactList",),
    "fact.show/1": ("negmem.core.models.fact:Fact",),
    "fact.history/1": ("negmem.core.models.fact:FactHistory",),
    "fact.search/1": ("negmem.core.models.fact:FactMatches",),
    "fact.rm/1": ("negmem.core.models.fact:FactChange",),
    "fact.restore/1": ("negmem.core.models.fact:FactChange",),
    "conflict.list/1": ("negmem.core.models.conflict:ConflictList",),
    "conflict.show/1": ("negmem.core.models.conflict:Conflict",),
    "conflict.resolve/1": ("negmem.core.models.conflict:ConflictResolved",),
    "summary.show/1": ("negmem.core.models.summary:Summaries",),
    "summary.refresh/1": ("negmem.core.models.summary:SummaryRefresh",),
    "core.show/1": ("negmem.core.models.core_block:CoreBlocks",),
    "core.set/1": ("negmem.core.models.core_block:CoreBlockChange",),
    "core.rm/1": ("negmem.core.models.core_block:CoreBlockChange",),
    "proposals.list/1": ("negmem.core.models.proposal:ProposalList",),
    "proposals.show/1": ("negmem.core.models.proposal:ProposalShown",),
    "proposals.approve/1": ("negmem.core.models.proposal:ProposalDecision",),
    "proposals.reject/1": ("negmem.core.models.proposal:ProposalDecision",),
    "proposals.edit/1": ("negmem.core.models.proposal:ProposalEdited",),
    "proposals.approve-all/1": ("negmem.core.models.proposal:ProposalDecisions",),
    "proposals.reject-all/1": ("negmem.core.models.proposal:ProposalDecisions",),
    "proposals.export/1": ("negmem.core.models.proposal:ProposalExport",),
    "profile.show/1": ("negmem.core.models.profile:Profile",),
    "profile.set/1": ("negmem.core.models.profile:ProfileChange",),
    "profile.unset/1": ("negmem.core.models.profile:ProfileChange",),
    "profile.undo/1": ("negmem.core.models.profile:ProfileChange",),
    "entity.add/1": ("negmem.core.models.entity:EntityChange",),
    "entity.fact/1": ("negmem.core.models.entity:EntityChange",),
    "entity.event/1": ("negmem.core.models.entity:EntityChange",),
    "entity.relate/1": ("negmem.core.models.entity:EntityChange",),
    "entity.replace/1": ("negmem.core.models.entity:EntityChange",),
    "entity.rm/1": ("negmem.core.models.entity:EntityChange",),
    "entity.undo/1": ("negmem.core.models.entity:EntityChange",),
    "entity.list/1": ("negmem.core.models.entity:EntityList",),
    "entity.show/1": ("negmem.core.models.entity:EntityShown",),
    "entity.search/1": ("negmem.core.models.entity:FoundEntities",),
    "learn.save/1": ("negmem.core.models.learning:LearningChange",),
    "learn.search/1": ("negmem.core.models.learning:FoundLearnings",),
    "learn.list/1": ("negmem.core.models.learning:LearningList",),
    "learn.show/1": ("negmem.core.models.learning:LearningShown",),
    "learn.edit/1": ("negmem.core.models.learning:LearningChange",),
    "learn.rm/1": ("negmem.core.models.learning:LearningChange",),
    "learn.versions/1": ("negmem.core.models.learning:LearningVersions",),
    "learn.undo/1": ("negmem.core.models.learning:LearningChange",),
    "decision.add/1": ("negmem.core.models.decision:DecisionChange",),
    "decision.list/1": ("negmem.core.models.decision:AgentDecisions",),
    "decision.show/1": ("negmem.core.models.decision:DecisionShown",),
    "decision.outcome/1": ("negmem.core.models.decision:DecisionChange",),
    "decision.rm/1": ("negmem.core.models.decision:DecisionChange",),
    "decision.undo/1": ("negmem.core.models.decision:DecisionChange",),
    "namespace.create/1": ("negmem.core.models.namespace:NamespaceChange",),
    "namespace.list/1": ("negmem.core.models.namespace:Namespaces",),
    "namespace.grant/1": ("negmem.core.models.namespace:NamespaceChange",),
    "namespace.revoke/1": ("negmem.core.models.namespace:NamespaceChange",),
    "tools.list/1": ("negmem.core.models.tool:ToolList",),
    "tools.schema/1": ("negmem.core.models.tool:ToolSchemas",),
    "tools.call/1": ("negmem.core.models.tool:ToolAnswer",),
    "instruction.set/1": ("negmem.core.models.instruction:InstructionChange",),
    "instruction.list/1": ("negmem.core.models.instruction:Instructions",),
    "instruction.show/1": ("negmem.core.models.instruction:Instructions",),
    "retention.run/1": ("negmem.core.models.retention:RetentionRun",),
    "retention.preview/1": ("negmem.core.models.retention:RetentionPreview",),
    "retention.curve/1": ("negmem.core.models.retention:RetentionCurve",),
    "retention.explain/1": ("negmem.core.models.retention:RetentionExplanation",),
    "retention.purge/1": ("negmem.core.models.retention:RetentionPurge",),
    "curator.dedup/1": ("negmem.core.models.dedup:Deduplicated",),
    "curator.prune/1": ("negmem.core.models.pruning:Pruned",),
    "embed.status/1": ("negmem.core.models.embed:EmbedStatus",),
    "embed.migrate/1": ("negmem.core.models.embed:EmbedChange",),
    "audit.retain/1": ("negmem.core.models.audit:Decided",),
    "audit.delete/1": ("negmem.core.models.audit:Decided",),
    "audit.anonymize/1": ("negmem.core.models.audit:Decided",),
    "audit.apply/1": ("negmem.core.models.audit:Decided",),
    "audit.history/1": ("negmem.core.models.audit:AuditHistory",),
    "audit.head/1": ("negmem.core.models.audit:TrailHead",),
    "audit.verify/1": ("negmem.core.models.audit:TrailVerified",),
    "audit.erase/1": ("negmem.core.models.erasure:Erased",),
    "audit.replay/1": ("negmem.core.models.erasure:Replayed",),
    "audit.disclose/1": ("negmem.core.models.disclosure:Disclosed",),
    "audit.export/1": ("negmem.core.models.export:Exported",),
    "user.picture/1": ("negmem.core.models.picture:UserPicture",),
    "user.show/1": ("negmem.core.models.standing:Standing",),
    "user.pause/1": ("negmem.core.models.standing:Standing",),
    "user.resume/1": ("negmem.core.models.standing:Standing",),
    "user.hold/1": ("negmem.core.models.standing:Standing",),
    "user.release/1": ("negmem.core.models.standing:Standing",),
    "import/1": ("negmem.core.models.export:Imported",),
    "pii.scan/1": ("negmem.core.models.pii:PiiScan",),
    "pii.fix/1": ("negmem.core.models.pii:PiiFix",),
    "bench.retrieval/1": ("negmem.core.models.bench:RetrievalBench",),
    "bench.load/1": ("negmem.core.models.bench:LoadBench",),
    "bench.judge/1": ("negmem.core.models.bench:JudgeBench",),
    "bench.history/1": ("negmem.core.models.bench:BenchHistory",),
    "search/1": ("negmem.core.models.retrieval:SearchAnswer",),
    "context/1": ("negmem.core.models.context:Context",),
    "recall/1": ("negmem.core.models.recall:Recall",),
    "feedback/1": ("negmem.core.models.feedback:Feedback",),
    "metrics/1": ("negmem.core.models.metrics:Metrics",),
    "diff/1": ("negmem.core.models.change:Difference",),
    "sync/1": ("negmem.core.models.change:SyncReport",),
    "automation.show/1": ("negmem.core.models.change:AutomationSnapshot",),
    "automation.enable/1": ("negmem.core.models.change:JobSwitch",),
    "automation.disable/1": ("negmem.core.models.change:JobSwitch",),
    "automation.reconcile/1": ("negmem.core.models.change:Reconciled",),
    "automation.run/1": ("negmem.core.models.job:JobRun",),
    "automation.purge/1": ("negmem.core.models.job:PurgedRuns",),
    "automation.logs/1": ("negmem.core.models.job:RunLog",),
    "automation.export/1": ("negmem.core.models.job:JobExport",),
    "scheduler.run/1": ("negmem.core.models.job:SchedulerRun",),
    "scheduler.status/1": ("negmem.core.models.job:SchedulerStatus",),
    "completions.show/1": ("negmem.core.models.completions:CompletionScript",),
    "completions.install/1": ("negmem.core.models.completions:InstalledCompletion",),
}
_DRY_RUN = {"dry_run": {"type": "boolean"}}
ADDED: dict[str, dict[str, Any]] = {"memory.edit/1": _DRY_RUN, "memory.undo/1": _DRY_RUN}
_TEXT = {"type": "string"}
_WARNINGS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"code": _TEXT, "message": _TEXT},
        "required": ["code", "message"],
    },
}
_ERROR = {
    "type": "object",
    "properties": dict.fromkeys(("code", "message", "why", "hint"), _TEXT),
    "required": ["code", "message", "why", "hint"],
}


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schema of each document by its name, `error/1` with them."""
    found = {name: _schema(name) for name in DOCUMENTS}
    found["error/1"] = _wrapped("error/1", {"error": _ERROR}, {})
    return found


def _schema(name: str) -> dict[str, Any]:
    models = [_model(place) for place in DOCUMENTS[name]]
    if len(models) == 1:
        body = TypeAdapter(models[0]).json_schema(mode="serialization")
        body["properties"] |= ADDED.get(name, {})
        body = _complete(body)
        said = str(body.get("description", ""))
        return _wrapped(name, body["properties"], body.get("$defs", {}), said)
    variants = [_complete(TypeAdapter(m).json_schema(mode="serialization")) for m in models]
    shared_definitions: dict[str, Any] = {}
    for variant in variants:
        shared_definitions.update(variant.get("$defs", {}))
    wrapped = [_wrapped(name, v["properties"], {}, str(v.get("description", ""))) for v in variants]
    shared = ("$schema", "title")
    top = {key: wrapped[0][key] for key in shared}
    inner = [{k: v for k, v in each.items() if k not in shared} for each in wrapped]
    return {**top, "anyOf": inner, **({"$defs": shared_definitions} if shared_definitions else {})}


def _wrapped(
    name: str, properties: dict[str, Any], definitions: dict[str, Any], said: str = ""
) -> dict[str, Any]:
    """A whole document: `schema` first, then what the model has, then `warnings`."""
    full = {"schema": {"const": f"negmem.{name}"}, **properties, "warnings": _WARNINGS}
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"negmem.{name}",
    }
    if said:
        schema["description"] = said
    schema |= {"type": "object", "properties": full, "required": list(full)}
    return {**schema, "$defs": definitions} if definitions else schema


def _complete(node: Any) -> Any:
    """Every key of a model is printed, so each is required; later versions may add others."""
    if isinstance(node, list):
        return [_complete(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {
        key: {name: _complete(inner) for name, inner in value.items()}
        if key in ("properties", "$defs")
        else _complete(value)
        for key, value in node.items()
        if key != "default"
    }
    if isinstance(node.get("properties"), dict) and node.get("additionalProperties") is False:
        del found["additionalProperties"]
        found["required"] = list(node["properties"])
    return found


def _model(place: str) -> type[BaseModel]:
    module, _, name = place.partition(":")
    found: type[BaseModel] = getattr(importlib.import_module(module), name)
    return found
