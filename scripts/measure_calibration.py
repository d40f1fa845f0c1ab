"""Measure how an embedding model's cosine reads, and write the file that ships with negmem.

    python scripts/measure_calibration.py local
    python scripts/measure_calibration.py onnx FOLDER

The sentences in `scripts/calibration` were written for this purpose: line n of the two files says
the same in two languages, and no other two lines have to do with each other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from negmem.providers.calibration import measure_calibration
from negmem.providers.embedding import Embedder
from negmem.providers.local import LocalEmbedder
from negmem.providers.onnx import OnnxEmbedder

HERE = Path(__file__).parent
DATA = HERE.parent / "negmem" / "providers" / "data"
ENGLISH_ONLY = {"all-minilm-l6-v2"}


def main(arguments: list[str]) -> int:
    embedder: Embedder
    if arguments == ["local"]:
        embedder = LocalEmbedder()
    elif len(arguments) == 2 and arguments[0] == "onnx":
        embedder = OnnxEmbedder(Path(arguments[1]))
    else:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    name = embedder.model.lower()
    languages = ["en"] if name in ENGLISH_ONLY else ["en", "zh"]
    texts: list[str] = []
    meanings: list[int] = []
    for language in languages:
        path = HERE / "calibration" / f"sentences.{language}.txt"
        lines = path.read_text(encoding="utf-8").splitlines()
        texts += lines
        meanings += range(len(lines))
    source = f"scripts/calibration, {' and '.join(languages)}, {len(texts)} sentences"
    calibration = measure_calibration(embedder, texts, source, meanings)
    DATA.mkdir(exist_ok=True)
    target = DATA / f"{name}.json"
    target.write_text(json.dumps(calibration.to_json()) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target}: {calibration.documents}, {calibration.queries}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
