"""Readers of conversations: one small module a format, all of them streams of the same records."""
