"""Write what is generated from the code: `schemas/*.schema.json` and `docs/configuration.md`."""

import json
from pathlib import Path

from kebab_stream.config import configuration_markdown
from kebab_stream.schemas import schema_files

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Replace the generated files; a schema without a wire object goes."""
    folder = ROOT / "schemas"
    for old in folder.glob("*.schema.json"):
        old.unlink()
    for name, schema in schema_files():
        (folder / name).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (ROOT / "docs" / "configuration.md").write_text(configuration_markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
