"""lemminflect is imported without spaCy, which would import torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FAKE = "from types import SimpleNamespace\n__version__ = '3.8'\ntokens = SimpleNamespace()\n"
FORMS = "from brittle.english.forms import lemmas\nfrom brittle.english.forms import same_lexeme\n"
USE = f"{FORMS}assert lemmas('ran', 'VBD') == ('run',) and same_lexeme('saw', 'sees')\n"


def run(program: str, folder: Path) -> None:
    """Run a program in a process of its own, with a package `spacy` on its path."""
    (folder / "spacy.py").write_text(FAKE)
    paths = [str(folder), *(path for path in sys.path if path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_forms_of_words_do_not_import_spacy(tmp_path: Path) -> None:
    run(f"import sys\n{USE}assert 'spacy' not in sys.modules, 'spaCy was imported'\n", tmp_path)


def test_spacy_can_be_imported_afterwards(tmp_path: Path) -> None:
    run(f"{USE}import spacy\nassert spacy.__version__ == '3.8'\n", tmp_path)


def test_a_plain_import_would_import_spacy(tmp_path: Path) -> None:
    """This is what the other tests are about; if it fails, the import may be plain again."""
    program = "import sys\ntry:\n    import lemminflect\nexcept AttributeError:\n    pass\n"
    run(f"{program}assert 'spacy' in sys.modules\n", tmp_path)
