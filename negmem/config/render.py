"""The configuration as YAML text: the reference of all keys, a first file, a stored document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negmem.config import yamltext
from negmem.config.keys import Group, shown, tree
from negmem.config.model import Config
from negmem.errors import UsageError
from negmem.shipped import data_dir

_HEAD = """\
# Every key of negmem's configuration with its default, its range and what it means.
# Take over only what you change: a key that is missing has its default. The section `automation`
# declares what the database shall run; without it the stored config alone rules.
"""
_INITIAL = """\
# negmem's configuration. Every key with its default and range: negmem config show --defaults

connection:
  # No dsn: the PG* variables count, else negmem's own embedded server. A password never stands
  # here; name a variable in its place:
  # dsn: postgresql://me:${PGPASSWORD}@db.example.org/agents
  schema: {schema}
  app: {app}

embedding:
  provider: {embedder}{dims}
{learning}
# The database stores what runs by itself (negmem config set automation.KEY VALUE, negmem automation
# enable JOB). Declared here instead, negmem diff and negmem sync compare with it:
# automation:
#   retention:
#     auto_cleanup_enabled: true
#     min_age_days: 30
#   consolidation:
#     enabled: true
#     schedule: "0 * * * *"
"""


def render_default_yaml() -> str:
    """The text of configs/default.yaml: every key with its default and one comment."""
    lines = [_HEAD]
    for member in tree().members.values():
        assert isinstance(member, Group)
        lines += [*_group_lines(member, 0), ""]
    return "\n".join(lines)


def _group_lines(group: Group, depth: int) -> list[str]:
    indent = "  " * depth
    lines = [f"{indent}# {group.meaning}", f"{indent}{group.path.rpartition('.')[2]}:"]
    for name, member in group.members.items():
        if isinstance(member, Group):
            lines += _group_lines(member, depth + 1)
            continue
        allowed = f" [{member.bounds}]" if member.bounds else ""
        lines.append(f"{indent}  # {member.field.description}{allowed}")
        lines.append(f"{indent}  {name}: {shown(member, getattr(group.default, member.attribute))}")
    return lines


def render_initial_yaml(
    *,
    schema: str,
    app: str,
    embedder: str,
    dims: int | None = None,
    preset: str = "standard",
) -> str:
    """The YAML that `negmem init` writes: what was chosen, and an example of the rest as comment.

    Args: embedder, the provider's name; dims, numbers in a vector where they were asked for; preset,
    a file of configs/presets. Raises: UsageError `preset_unknown`.
    """
    text = yamltext.render
    body = preset_text(preset).rstrip("\n")
    return (
        _INITIAL.replace("{schema}", text(schema))
        .replace("{app}", text(app))
        .replace("{embedder}", text(embedder))
        .replace("{dims}", "" if dims is None else f"\n  dims: {dims}")
        .replace("{learning}", f"\n{body}\n")
    )


def render_document(document: Mapping[str, Any], section: str = "automation") -> str:
    """A stored document as the YAML section that declares it."""
    if not document:
        return f"{section}: {{}}\n"
    return "\n".join([f"{section}:", *_nested_lines(document, "  ")]) + "\n"


def _nested_lines(document: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for name, value in document.items():
        if isinstance(value, Mapping):
            lines.append(f"{indent}{name}:" + ("" if value else " {}"))
            lines += _nested_lines(value, indent + "  ")
        else:
            lines.append(f"{indent}{name}: {yamltext.render(value)}")
    return lines


def schema_document() -> dict[str, Any]:
    """The JSON schema of the YAML (draft 2020-12)."""
    schema = Config.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def preset_names() -> list[str]:
    """The presets that ship with negmem."""
    return sorted(path.stem for path in (data_dir() / "configs" / "presets").glob("*.yaml"))


def preset_text(name: str) -> str:
    """The YAML of a preset. Raises: UsageError `preset_unknown`."""
    if name not in preset_names():
        raise UsageError(
            "preset_unknown",
            f"there is no preset {name!r}",
            why="presets are the files of configs/presets",
            hint=f"one of: {', '.join(preset_names())}",
        )
    return (data_dir() / "configs" / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
