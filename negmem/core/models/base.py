"""The base of every value that the Python API returns and `--json` prints."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value; unknown fields are errors, so that a renamed key fails a test."""

    model_config = ConfigDict(frozen=True, extra="forbid")
