"""Generators: listed, looked into, trained and exported, and the attack natural by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
from brittle.picture import Picture, contact_sheet, png
from cli.conftest import Brittle
from zoo.generators.folders import random_folder

OWN = """
WORDS = ("good", "fine", "poor", "bad")

class Words:
    size, item_kind = 1, "text"

    def encode(self, items):
        return [[WORDS.index(str(item))] for item in items]

    def decode(self, rows):
        return [WORDS[min(3, max(0, round(float(row[0]))))] for row in rows]

class Bright:
    labels = ["dark", "bright"]

    def __call__(self, pictures):
        import numpy as np
        share = np.asarray(pictures).mean(axis=(1, 2, 3))
        return np.stack([1 - share, share], axis=1)

bright = Bright()
"""
BAD_FIT = {"reconstruction error": {"mean": 0.0001, "99 of 100": 0.0002}}


@pytest.fixture(autouse=True)
def generators(workdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    (workdir / "own_generators.py").write_text(OWN)
    measures = BAD_FIT | {"summary": "reconstruction error 0.000"}
    return random_folder(tmp_path / "models" / "WGAN@toy#0-1", measures=measures)


def test_the_listing(brittle: Brittle) -> None:
    rows = json.loads(brittle("list", "generators", "--json").out)
    assert rows[0]["generator"] == "WGAN@toy#0?size=tiny" and rows[0]["latent"] == 8
    assert rows[0]["figures"] == "reconstruction error 0.000"
    assert any("brittle train WGAN-residual --data DATA" in row["where"] for row in rows)
    assert {row["items"] for row in rows} == {"texts", "pictures"}
    assert brittle("list", "models").code == 0


def test_neighbours_of_a_picture(brittle: Brittle, tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    grey = np.random.default_rng(0).integers(0, 255, (12, 10, 1)).astype(np.uint8)
    path = tmp_path / "digit.png"
    path.write_bytes(png(grey))
    argv = ("explain", "latent", "WGAN@toy?size=tiny", str(path), "--radius", "2", "--count", "12")
    output = brittle(*argv, "--json")
    assert output.code == 0 and "seems to come from other data" in output.err
    reply = json.loads(output.out)
    assert reply["written"] == str(tmp_path / "digit-neighbours.png")
    distances = reply["distance"]
    assert len(distances) == 13 and distances == sorted(distances)
    assert distances[0] == 0 and distances[1] > 0 and distances[-1] <= 2
    sheet = Path(reply["written"]).read_bytes()
    assert brittle(*argv).code == 0 and Path(reply["written"]).read_bytes() == sheet
    from PIL import Image

    with Image.open(reply["written"]) as image:
        assert image.size == (10 * 11 + 1, 2 * 13 + 1)
        assert Picture.of(image).pixels[1:13, 1:11] == pytest.approx(grey / 255, abs=1e-6)


def test_neighbours_of_a_sentence(brittle: Brittle) -> None:
    argv = (
        "explain",
        "latent",
        "python:own_generators:Words",
        "fine",
        "--radius",
        "1",
        "--count",
        "30",
    )
    rows = json.loads(brittle(*argv, "--json").out)
    # Every sentence once, with its nearest point: "fine" reaches half way to the others.
    assert rows[0]["distance"] == 0.0 and rows[0]["sentence"] == "fine"
    assert sorted(row["sentence"] for row in rows) == ["fine", "good", "poor"]
    assert all(0.5 <= row["distance"] < 0.8 for row in rows[1:])
    assert sum(row["points"] for row in rows) == 31 and rows[0]["points"] > 5
    assert "sentence" in brittle(*argv).out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("WGAN@toy?size=tiny", "no.png"), "'no.png' is not a picture file"),
        (("python:own_generators:Words", "fine", "--radius", "0"), "Got --radius 0; expected"),
        (("python:own_generators:Words", "fine", "--radius", "inf"), "Got --radius inf; expected"),
        (("WGAN@other", "no.png"), "brittle train WGAN --data other"),
    ],
)
def test_strange_input(brittle: Brittle, argv: tuple[str, ...], message: str) -> None:
    output = brittle("explain", "latent", *argv)
    assert output.code == 2 and message in output.err


def test_natural_with_a_generator_by_name(brittle: Brittle, tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (6, 12, 10)).astype(np.uint8)
    np.savez(tmp_path / "toy.npz", x=pixels)
    attack = ("attack", "python:own_generators:bright", "natural", "--label", "")
    settings = ("--generator", "WGAN@toy?size=tiny", "--samples", "20", "--step", "0.5")
    argv = (*attack, "--data", str(tmp_path / "toy.npz"), *settings, "--radius", "3")
    output = brittle(*argv, "--json", "--name", "natural-by-name")
    assert output.code == 0, output.err
    assert "seems to come from other data" in output.err
    unnamed = [word for word in argv if word not in ("--generator", "WGAN@toy?size=tiny")]
    assert brittle(*unnamed, "--json", "--name", "natural-unnamed").code == 0
    np.savez(tmp_path / "small.npz", x=pixels[:, :9])
    output = brittle(*attack, "--data", str(tmp_path / "small.npz"))
    assert output.code == 2 and "This needs a generator. Name one" in output.err
    output = brittle(*attack, "--data", str(tmp_path / "small.npz"), *settings)
    assert output.code == 2 and "reads pictures of 12 × 10 × 1" in output.err


def test_export_is_refused_before_anything_is_trained(brittle: Brittle, workdir: Path) -> None:
    argv = ("train", "naive-bayes", "--data", "films.csv", "--export", "exported")
    output = brittle(*argv)
    assert output.code == 2 and "--export is for generators; naive-bayes is none" in output.err
    (workdir / "full").mkdir(exist_ok=True)
    (workdir / "full" / "file").write_text("")
    output = brittle("train", "WGAN", "--data", "mnist", "--export", "full")
    assert output.code == 2 and "full already exists" in output.err


def test_a_sheet_has_all_pictures_and_lines_between() -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    pixels = np.random.default_rng(0).random((5, 3, 4, 3)).astype(np.float32)
    sheet = np.asarray(image.open(io.BytesIO(contact_sheet(pixels, 2))))
    assert sheet.shape == (3 * 4 + 1, 2 * 5 + 1, 3)
    assert (sheet[4, 6:10] == 128).all()
    assert np.array_equal(sheet[5:8, 6:10], np.rint(255 * pixels[3]).astype(np.uint8))
