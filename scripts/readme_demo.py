"""Make again what the README shows of the demo: its output, and the picture of its report.

    python scripts/readme_demo.py

runs the attack of `make demo`, writes the output between the marks in README.md, and takes
docs/report.png with headless Chromium (`--chromium PATH` if it is not found by its name).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1130, 945  # to the end of the first failure
OPENING, CLOSING = "<!-- demo: scripts/readme_demo.py writes this -->", "<!-- end of demo -->"
ATTACK = (
    "attack",
    "zoo:LSTM-W-Random-1@mr",
    "auto",
    "--data",
    "mr",
    "--name",
    "demo",
)
AT_THE_END = ("Run: ", "Report: ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chromium", default=shutil.which("chromium"), metavar="PATH")
    args = parser.parse_args()
    if args.chromium is None:
        sys.exit("Chromium was not found. Install it, or name it: --chromium PATH.")
    with tempfile.TemporaryDirectory() as folder:
        output = run_demo(Path(folder))
        take_picture(args.chromium, Path(folder))
    readme = ROOT / "README.md"
    readme.write_text(with_demo(readme.read_text("utf-8"), output), "utf-8")
    print(f"README.md and {PICTURE.relative_to(ROOT)} ({PICTURE.stat().st_size:,} bytes)")


def run_demo(folder: Path) -> str:
    """Run the demo in a folder, where it leaves report.html, and return the part to show."""
    command = [sys.executable, "-m", "brittle", *ATTACK, "--report", "report.html"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return one_screen(done.stdout)


def one_screen(output: str) -> str:
    """Keep what the demo prints, without the paths at its end.

    >>> one_screen("demo\\n  accuracy 75.8%  \\n\\nRun: runs/demo.sqlite\\nReport: report.html\\n")
    'demo\\n  accuracy 75.8%'
    """
    shown = [line.rstrip() for line in output.splitlines() if not line.startswith(AT_THE_END)]
    return "\n".join(shown).strip("\n")


def alternative_text(output: str) -> str:
    """Write the figures of the picture for people who do not see it."""
    [accuracy] = re.findall(r"  accuracy +([\d.]+%)", output)
    levels = re.findall(r"  after (\w[\w -]*?) {2,}([\d.]+%)", output)
    after = ", ".join(f"{share} after {level}" for level, share in levels)
    return f"The first screen of the report: accuracy {accuracy}, {after}."


def take_picture(chromium: str, folder: Path) -> None:
    """Show report.html as a light page, without scroll bars, and write its first screen."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += [f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},{HEIGHT}"]
    page = (folder / "report.html").as_uri()
    subprocess.run(
        [chromium, *flags, f"--screenshot={PICTURE}", page], check=True, stderr=subprocess.DEVNULL
    )


def with_demo(readme: str, output: str) -> str:
    """Return the README with this output between the marks."""
    before, _, rest = readme.partition(OPENING)
    _, _, after = rest.partition(CLOSING)
    if not after:
        sys.exit(f"README.md has no place for the output: {OPENING} … {CLOSING}.")
    page = f"{before}{OPENING}\n```text\n{output}\n```\n{CLOSING}{after}"
    return re.sub(r'(docs/report.png"[^>]* alt=")[^"]*"', rf'\1{alternative_text(output)}"', page)


if __name__ == "__main__":
    main()
