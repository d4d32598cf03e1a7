"""Show what one command costs to read: modules imported, files run, opens of the run file, CPU.

    python scripts/imports.py [--json]

An attack is made in a temporary folder (the model comes from the cache, or is trained once), then
shown and reported. A file is run if one of its functions is called; a comprehension in the body of
a module is no function (Python 3.12 runs it as part of the body). CPU is the least of several
processes. The second half counts the source: files, lines, public class names that are defined
more than once, and branches on the kind of a model or on the class of its settings.

Two figures count branches. "on any .kind" has every comparison of an attribute of that name, and
every isinstance of a class of models' settings. "on the kind of a model" leaves out comparisons
with constants none of which is the kind of a model (`zoo/families.py`), such as the kind of a
question ("scale"), of scores ("label") or of items ("text"). What is compared with a variable
counts, whatever it is: the kind of a parameter of `inspect`, of a study, of a dtype.
"""

from __future__ import annotations

import argparse
import ast
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = [path for path in sorted((ROOT / "src").iterdir()) if (path / "__init__.py").exists()]
ATTACK = ("attack", "zoo:naive-bayes@mr", "pwws", "--data", "mr", "--limit", "5", "--name", "one")
PROCESSES = 7  # of which the least CPU counts

TRACED = """
import json, sys, threading
run, opens, files = sys.argv[1], [], set()
packages = tuple(sys.argv[2].split(","))
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

def opened(event, args):
    if event == "sqlite3.connect" and run in str(args[0]):
        opens.append(str(args[0]))

def called(frame, event, arg):
    if event != "call" or not frame.f_code.co_flags & 1:  # not the body of a module
        return
    if frame.f_code.co_name in COMPREHENSIONS and frame.f_back.f_code.co_name == "<module>":
        return
    files.add(frame.f_code.co_filename)

sys.addaudithook(opened)
threading.setprofile(called)
sys.setprofile(called)
from brittle.cli import main
code = main(sys.argv[3:])
sys.setprofile(None)
names = [name for name in sys.modules if name.split(".")[0] in packages]
ran = [name for name in files if any(f"/src/{p}/" in name for p in packages)]
print(json.dumps({"code": code, "modules": len(names), "files": len(ran), "opens": len(opens)}),
      file=sys.stderr)
"""


def traced(folder: Path, *words: str) -> dict[str, int]:
    """Run a command and return how many modules it imported, files it ran, and opens of the run."""
    packages = ",".join(path.name for path in PACKAGES)
    command = [sys.executable, "-c", TRACED, "one.sqlite", packages, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    counts: dict[str, int] = json.loads(done.stderr.splitlines()[-1])
    if counts.pop("code"):
        raise SystemExit(done.stderr)
    return counts


def cpu_seconds(folder: Path, *words: str) -> float:
    """Return the CPU time of a command, the least of several processes."""
    times = []
    for _ in range(PROCESSES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "brittle", *words]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(min(times), 3)


def imports_numpy(*words: str) -> bool:
    """Tell whether a command imports numpy."""
    code = "import sys; from brittle.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: "
    code += "pass\nprint('numpy' in sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1] == "True"


def commands() -> dict[str, Any]:
    """Measure one attack, and reading its run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traced(folder, *ATTACK)  # the first may train the model, and write bytecode
        return {
            "attack": traced(folder, *ATTACK, "--new"),
            "report": traced(folder, "report", "one"),
            "show": traced(folder, "show", "one"),
            "show: CPU seconds": cpu_seconds(folder, "show", "one"),
            "report: CPU seconds": cpu_seconds(folder, "report", "one"),
            "help: CPU seconds": cpu_seconds(folder, "--help"),
            "help imports numpy": imports_numpy("--help"),
        }


def source() -> dict[str, Any]:
    """Count files, lines, class names and branches of the source."""
    paths = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    lines = sum(path.read_text("utf-8").count("\n") for path in paths)
    constants, found = constants_of(trees), [b for tree in trees for b in branches(tree)]
    twice = {name: count for name, count in class_names(trees).items() if count > 1}
    return {
        "files": len(paths),
        "lines": lines,
        "files per 10,000 lines": round(len(paths) / lines * 10_000, 1),
        "public class names defined more than once": len(twice),
        "branches on any .kind or a settings class": len(found),
        "branches on the kind of a model": sum(is_of_models(b, constants) for b in found),
        "duplicate names": twice,
    }


def class_names(trees: Sequence[ast.Module]) -> Counter[str]:
    """Count how often each public class name is defined at the top of a file."""
    nodes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    return Counter(node.name for node in nodes if not node.name.startswith("_"))


def branches(tree: ast.Module) -> list[ast.AST]:
    """List comparisons with any `.kind`, and isinstance of the classes of models' settings."""
    return [node for node in ast.walk(tree) if is_branch(node)]


def is_branch(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(is_kind(side) for side in (node.left, *node.comparators))
    if isinstance(node, ast.Match):
        return is_kind(node.subject)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
        return bool(names_in(node.args[1]) & SETTINGS_CLASSES)
    return False


def is_kind(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "kind"


def constants_of(trees: Sequence[ast.Module]) -> dict[str, set[Any]]:
    """Return the constants that files give names to, such as `A, B = KINDS = ("a", "b")`."""
    found: dict[str, set[Any]] = {}
    for node in [node for tree in trees for node in tree.body if isinstance(node, ast.Assign)]:
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            for name, value in zip(names, values):
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                    found.setdefault(name.id, set()).add(value.value)
    return found


def is_of_models(branch: ast.AST, constants: Mapping[str, set[Any]]) -> bool:
    """Tell whether a branch may be on the kind of a model; `constants` have names."""
    if not isinstance(branch, ast.Compare):
        return True
    nodes = [node for side in (branch.left, *branch.comparators) for node in ast.walk(side)]
    kinds = [node for node in nodes if is_kind(node)]
    names = [node for node in nodes if isinstance(node, ast.Attribute | ast.Name | ast.Call)]
    inner = {id(node) for kind in kinds for node in ast.walk(kind)}
    others = [ast.unparse(name) for name in names if id(name) not in inner]
    if len(kinds) > 1 or not constants.keys() >= set(others):
        return True  # compared with a variable
    values = {node.value for node in nodes if isinstance(node, ast.Constant)}
    return bool(values.union(*map(constants.__getitem__, others)) & MODEL_KINDS)


def names_in(node: ast.AST) -> set[str]:
    """Return the names of classes in an expression, without those of their modules."""
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    return names | {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}


def settings_classes() -> frozenset[str]:
    """Return the names of the dataclasses in the files that hold the settings of models."""
    found = set()
    for path in (ROOT / "src/brittle/zoo").rglob("*.py"):
        if "names" in path.parts or path.stem in ("settings", "families"):
            tree = ast.parse(path.read_text("utf-8"))
            found |= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    return frozenset(found)


def model_kinds() -> frozenset[str]:
    """Return the kinds that the records of models have."""
    tree = ast.parse((ROOT / "src/brittle/zoo/families.py").read_text("utf-8"))
    keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    values = [node.value for node in keywords if node.arg == "kind"]
    return frozenset(str(node.value) for node in values if isinstance(node, ast.Constant))


SETTINGS_CLASSES = settings_classes()
MODEL_KINDS = model_kinds()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    figures = {**commands(), **source()}
    if args.json:
        print(json.dumps(figures, indent=2))
        return
    duplicates = figures.pop("duplicate names")
    for name, value in figures.items():
        shown = value
        if isinstance(value, dict):
            shown = ", ".join(f"{count} {what}" for what, count in value.items())
        print(f"  {name:<44}{shown}")
    print("  " + ", ".join(f"{name} {count}" for name, count in sorted(duplicates.items())))


if __name__ == "__main__":
    main()
