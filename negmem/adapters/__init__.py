"""Adapters to agent frameworks: each a module of its own, which needs the extra of its name."""
