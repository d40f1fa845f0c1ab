"""One cache of embeddings under several processes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from negmem.providers.cache import CachedEmbedder, EmbeddingCache
from tests.support.embedder import FakeEmbedder


def test_several_processes_fill_one_file(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite3"
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from negmem.providers.cache import CachedEmbedder, EmbeddingCache\n"
        "from tests.support.embedder import FakeEmbedder\n"
        "start = int(sys.argv[2])\n"
        "with EmbeddingCache(Path(sys.argv[1])) as cache:\n"
        "    embedder = CachedEmbedder(FakeEmbedder(), cache)\n"
        "    for n in range(start, start + 40):\n"
        "        embedder.embed_documents([f'text {m}' for m in range(n, n + 5)])\n"
    )
    root = Path(__file__).parents[3]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(start)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for start in (0, 20, 40)
    ]
    for worker in workers:
        _, errors = worker.communicate()
        assert worker.returncode == 0, errors
    with EmbeddingCache(path) as cache:
        model = FakeEmbedder()
        texts = [f"text {n}" for n in range(84)]
        rows = CachedEmbedder(model, cache).embed_documents(texts)
    assert model.calls == []
    assert np.array_equal(rows, FakeEmbedder().embed_documents(texts))
