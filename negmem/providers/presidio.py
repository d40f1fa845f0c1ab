"""Names, places and the like, found by Microsoft Presidio: the extra `pii`, imported when first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from negmem.core.text.pii import Finding

# What the patterns of core/text/pii.py can't know. For the rest Presidio is not asked: its recognizer of
# e-mail addresses fetches a list from the network at the first text.
_KINDS = {"PERSON": "person", "LOCATION": "location", "DATE_TIME": "date_time", "URL": "url"}
_MODELS = {
    "en": ("en_core_web_lg", "en_core_web_md", "en_core_web_sm"),
    "zh": ("zh_core_web_lg", "zh_core_web_md", "zh_core_web_sm"),
}


@dataclass(frozen=True)
class PresidioAbsent:
    """Why there is no Presidio, as a sentence with its remedy."""

    message: str


def make_detector(
    languages: Sequence[str],
) -> Callable[[str], list[Finding]] | PresidioAbsent:
    """A function from a text to its findings, or why there is none. Downloads nothing."""
    try:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
        from spacy.util import is_package
    except ImportError as error:
        return PresidioAbsent(
            f"governance.pii.engine is presidio, and {error.name or 'it'} is not installed:"
            ' pip install "negmem[pii]"'
        )
    models = []
    for language in languages:
        names = _MODELS.get(language, ())
        installed = next((name for name in names if is_package(name)), None)
        if installed is None:
            if not names:
                return PresidioAbsent(
                    f"governance.pii.languages names {language}, known are {', '.join(_MODELS)}"
                )
            return PresidioAbsent(
                f"governance.pii.languages names {language}, and {names[-1]} is not installed:"
                f" python -m spacy download {names[-1]}"
            )
        models.append({"lang_code": language, "model_name": installed})
    provider = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
    engine = AnalyzerEngine(
        nlp_engine=provider.create_engine(), supported_languages=list(languages)
    )
    return lambda text: _findings(engine, languages, text)


def _findings(engine: Any, languages: Sequence[str], text: str) -> list[Finding]:
    return [
        Finding(_KINDS[one.entity_type], one.start, one.end, float(one.score), "presidio")
        for language in languages
        for one in engine.analyze(text=text, language=language, entities=list(_KINDS))
    ]
