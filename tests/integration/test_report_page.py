"""The report's page in a real browser: nothing fetched, nothing run, readable at every width and in both schemes."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from negmem.core.report.making import make_report
from negmem.core.report.page import render_page
from tests.servers import browser
from tests.support.databases import TestDatabase
from tests.support.deployment import HOSTILE, fill
from tests.support.ingesting import session_on

# The least ratio of text and ground that the accessibility guidelines (WCAG 2, AA) ask of small text.
LEAST_CONTRAST = 4.5
PAPER_WIDTH = 688  # A4 within its margins
_CUT = """
() => [...document.querySelectorAll('table')].filter(t => t.getClientRects().length)
  .filter(t => t.offsetWidth > t.parentElement.clientWidth).map(t => t.textContent.slice(0, 60))
"""
_FAINT = """
() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = node => {
    for (let at = node; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const node of document.body.querySelectorAll('*')) {
    const own = [...node.childNodes].some(c => c.nodeType === 3 && c.data.trim());
    if (!own || !node.getClientRects().length || node.closest('svg')) continue;
    const [a, b] = [light(parts(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < LEAST) faint.push(`${ratio.toFixed(2)} ${node.tagName} ${node.textContent.slice(0, 40)}`);
  }
  return faint;
}
""".replace("LEAST", str(LEAST_CONTRAST))
_CLIPPED = """
() => [...document.querySelectorAll('h1, h2, h3, dt, dd, p, figcaption, svg')]
  .filter(n => n.getBoundingClientRect().right > innerWidth + 0.5 && !n.closest('.scroll'))
  .map(n => n.tagName + ' ' + n.textContent.slice(0, 40))
"""


def look(
    found: Browser, page_file: Path, width: int, scheme: str, *, with_scripts: bool
) -> tuple[list[str], dict[str, object]]:
    """What the browser complains of or asks for, and what a reader sees."""
    said: list[str] = []
    context = found.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        java_script_enabled=with_scripts,
    )
    page = context.new_page()
    page.on("console", lambda message: said.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: said.append(f"request: {request.url}"))
    page.goto(page_file.as_uri())
    seen = {
        "text": page.inner_text("body"),
        "wide": page.evaluate("document.documentElement.scrollWidth"),
        "clipped": page.evaluate(_CLIPPED),
        "faint": page.evaluate(_FAINT),
        "scheme": page.evaluate("getComputedStyle(document.body).backgroundColor"),
        "charts": page.locator("figure svg").count(),
        "bar": page.locator("figure .bar").first.bounding_box(),
    }
    page.set_viewport_size({"width": PAPER_WIDTH, "height": 980})
    page.emulate_media(media="print")
    seen["cut"] = page.evaluate(_CUT)
    context.close()
    return [
        one for one in said if one not in (f"request: {page_file.as_uri()}", "request: data:,")
    ], seen


def test_the_page_in_a_browser(database: TestDatabase, tmp_path: Path) -> None:
    fill(database)
    with session_on(database) as session:
        text = render_page(make_report(session, personal=True))
    page_file = tmp_path / "report.html"
    page_file.write_text(text, encoding="utf-8")
    grounds = set()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=str(browser.ensure()), args=["--no-sandbox"]
        )
        for width, scheme, with_scripts in (
            (1180, "light", True),
            (1180, "dark", True),
            (375, "light", False),
        ):
            said, seen = look(found, page_file, width, scheme, with_scripts=with_scripts)
            assert said == []
            assert seen["wide"] == width and seen["clipped"] == []
            assert seen["faint"] == [] and seen["cut"] == []
            assert seen["charts"] == 8 and seen["bar"]
            shown = str(seen["text"])
            for words in ("To look at", "Health", "Forgetting", "Benchmarks", "离婚", HOSTILE[:40]):
                assert words in shown
            grounds.add(seen["scheme"])
        found.close()
    assert len(grounds) == 2  # light and dark
