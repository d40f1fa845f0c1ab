"""What can't be tested under every Python that negmem runs on."""

from __future__ import annotations

import sys

# Google's kit needs Python 3.11, and is not installed under 3.10.
collect_ignore = [] if sys.version_info >= (3, 11) else ["test_adk.py"]
