"""Scripts in texts, labels and names: no page that brittle writes may run one of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from hostile.part import Part, timed

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MARK = "data-pwned"
CASES_ON_A_PAGE = 25  # of a report; others are shown when one turns the page
RUN = "document.documentElement.setAttribute('{mark}-{n}','1')"
FORMS = (
    "<script>{js}</script>",
    "<SCRIPT>{js}</SCRIPT>",
    "</script><script>{js}</script>",
    "</style><script>{js}</script>",
    "</title><script>{js}</script>",
    "</textarea><script>{js}</script>",
    "--><script>{js}</script>",
    "]]><script>{js}</script>",
    "<!--<script>{js}</script>",
    "<scr<script>ipt>{js}</scr</script>ipt>",
    "<script\n>{js}</script\n>",
    "<script/x>{js}</script>",
    "<img src=x onerror={js}>",
    '<img src=x onerror="{js}">',
    '"><img src=x onerror={js}>',
    "'><img src=x onerror={js}>",
    "<svg onload={js}>",
    "<svg><script>{js}</script></svg>",
    "<svg><animate onbegin={js} attributeName=x dur=1s>",
    "<body onload={js}>",
    "<iframe srcdoc='<script>parent.{js}</script>'>",
    '<iframe src="javascript:parent.{js}">',
    "<details open ontoggle={js}>",
    "<video><source onerror={js}>",
    "<audio src=x onerror={js}>",
    "<input autofocus onfocus={js}>",
    "<select autofocus onfocus={js}>",
    "<marquee onstart={js}>",
    '<object data="javascript:{js}">',
    '<embed src="javascript:{js}">',
    '<a href="javascript:{js}" autofocus>x</a>',
    '<meta http-equiv="refresh" content="0;url=javascript:{js}">',
    '<base href="javascript:{js}//">',
    "<math><mtext></mtext><script>{js}</script></math>",
    "<template><script>{js}</script></template>",
    "<noscript><img src=x onerror={js}></noscript>",
    "<style>@import 'javascript:{js}'</style>",
    '" onmouseover="{js}" x="',
    "' onfocus='{js}' autofocus x='",
    '" autofocus onfocus="{js}',
    "${{{js}}}",
    "{{{{{js}}}}}",
    "`;{js};`",
    "';{js};'",
    '";{js};"',
    "\\';{js};//",
    '\\";{js};//',
    "</script \u2028>{js}",
    "\u2028{js}\u2028",
    "&lt;script&gt;{js}&lt;/script&gt;",
    "&#60;script&#62;{js}&#60;/script&#62;",
    "%3Cscript%3E{js}%3C/script%3E",
    "\\u003cscript\\u003e{js}\\u003c/script\\u003e",
    "+ADw-script+AD4-{js}+ADw-/script+AD4-",
    "<\x00script>{js}</script>",
    "<script>{js}//",
    "<x onclick={js} id=x tabindex=1 onfocus={js} autofocus>",
    "javascript:{js}",
)


def script_payloads(folder: Path, count: int, seed: int) -> Part:
    """Put scripts into a run and a grid, and see in a browser whether their pages run one."""
    part = Part("scripts in a browser", count)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    folder.mkdir(parents=True, exist_ok=True)
    if browser is None:
        part.skipped = "no Chromium is installed"
        return part
    with timed(part):
        control = folder / "control.html"
        control.write_text(f"<html><script>{RUN.format(mark=MARK, n=0)}</script></html>", "utf-8")
        if f"{MARK}-0" not in _dom(browser, control):
            part.skipped = f"{browser} runs no script at all here"
            return part
        payloads = [
            form.format(js=RUN.format(mark=MARK, n=n + 1)) for n, form in enumerate(FORMS[:count])
        ]
        doms = {page.name: _dom(browser, page) for page in _pages(folder, payloads)}
        for n, payload in enumerate(payloads):
            ran = [name for name, dom in doms.items() if f"{MARK}-{n + 1}=" in dom]
            part.check(payload, f"ran in {', '.join(ran)}" if ran else None)
        part.failures += [f"{name} is empty" for name, dom in doms.items() if "brittle" not in dom]
    return part


def _pages(folder: Path, payloads: list[str]) -> list[Path]:
    """Write reports and a grid's page whose texts, labels and targets are scripts."""
    import brittle
    from brittle.testing import FakeTarget

    labels = (payloads[0], f"{payloads[1 % len(payloads)]}2")
    first, second = (
        FakeTarget({"good": weight, "film": 1.0}, labels=labels, name=f"{weight} {payloads[2]}")
        for weight in (2.0, 3.0)
    )
    examples = [(f"a good film {text}", labels[1]) for text in payloads]
    pages = []
    for start in range(0, len(examples), CASES_ON_A_PAGE):
        shown, name = examples[start : start + CASES_ON_A_PAGE], f"run-{start}"
        run = brittle.attack(first, shown, "pwws", folder=folder, name=name, budget=60)
        pages.append(run.report(folder / f"{name}.html"))
    study = brittle.grid([first, second], examples, "key", folder=folder, name="grid", limit=20)
    return [*pages, study.report(folder / "grid.html")]


def _dom(browser: str, page: Path) -> str:
    """Return the page as it is after its scripts ran."""
    home = page.parent / "browser"
    argv = [browser, "--headless", "--disable-gpu", "--no-sandbox", f"--user-data-dir={home}"]
    argv += ["--virtual-time-budget=4000", "--dump-dom", page.as_uri()]
    env = os.environ | {"HOME": str(page.parent)}
    done = subprocess.run(argv, capture_output=True, timeout=180, env=env)
    return done.stdout.decode("utf-8", "replace")
