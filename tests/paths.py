"""Where tests find their data."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
SHARED = ROOT.parent / "shared"
"""Real corpora and data sets, not part of the project: tests that want them skip where they are absent."""
