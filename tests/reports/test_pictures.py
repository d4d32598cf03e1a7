"""Images: PNG files read by another decoder, the colours of a difference, blocks in a terminal."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import struct
import subprocess
import zlib
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from markupsafe import Markup

from brittle.metrics.grid import Confusion
from brittle.metrics.samples import sample_results
from brittle.picture import Picture, png
from brittle.reports import cases
from brittle.reports.cases import clearest, difference_image, embedded_pictures
from brittle.reports.terminal import picture_lines
from brittle.reports.what_breaks import confusion_section
from brittle.results import KeptItem, Result

GENERATOR = np.random.default_rng(0)


def decoded(content: bytes) -> Any:
    """Decode a PNG file without filters."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        name, body = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        (check,) = struct.unpack(">I", content[place + 8 + length : place + 12 + length])
        assert check == zlib.crc32(name + body)
        chunks[name] = body
        place += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    channels = {0: 1, 2: 3, 6: 4}[colour]
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8)
    lines = raw.reshape(height, 1 + width * channels)
    assert depth == 8 and not lines[:, 0].any() and list(chunks)[-1] == b"IEND"
    return lines[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_png_has_its_pixels(channels: int) -> None:
    pixels = GENERATOR.integers(0, 256, (5, 7, channels), dtype=np.uint8)
    assert np.array_equal(decoded(png(pixels)), pixels)


def test_pillow_reads_it() -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = GENERATOR.integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert np.array_equal(np.asarray(image.open(io.BytesIO(png(pixels)))), pixels)


def test_brighter_is_blue_and_darker_is_red() -> None:
    original = np.full((1, 3, 1), 0.5, np.float32)
    adversary = np.array([0.75, 0.25, 0.5], np.float32).reshape(1, 3, 1)
    (brighter, darker, same) = difference_image(original, adversary)[0].tolist()
    assert brighter[2] > brighter[0] and darker[0] > darker[2] and same == [255, 255, 255]
    assert (difference_image(original, original) == 255).all()


def test_images_end_where_the_page_would_grow_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    original, adversary = (Picture(GENERATOR.random((6, 6))).encode() for _ in range(2))
    row = replace(
        sample_results()[0], original=original, adversarial=adversary, l2=1.23456, linf=0.5
    )
    rows = [row, replace(row, adversarial=None, l2=None, linf=None), row]
    all_three, alone = ["original", "adversary", "difference"], ["original"]
    assert [list(images) for *_, images in embedded_pictures(rows)] == [all_three, alone, all_three]
    assert embedded_pictures(rows)[0][:2] == [1.2346, 0.5]
    monkeypatch.setattr(cases, "MAX_BYTES", 100)
    assert [list(images) for *_, images in embedded_pictures(rows)] == [all_three, [], []]


def test_a_reconstruction_stands_beside_its_original() -> None:
    original, rebuilt, adversary = (Picture(GENERATOR.random((6, 6))) for _ in range(3))
    row = replace(
        *(sample_results()[0],),
        original=original.encode(),
        adversarial=adversary.encode(),
        kept=(KeptItem("reconstruction", rebuilt.encode(), 0.0, "positive", 0.9),),
    )
    [[_, _, images]] = embedded_pictures([row])
    assert list(images) == ["original", "reconstruction", "adversary", "difference"]
    shown = decoded(base64.b64decode(images["reconstruction"]))
    assert np.array_equal(shown, np.rint(255 * rebuilt.pixels).astype(np.uint8))
    [[_, _, images]] = embedded_pictures([replace(row, adversarial=None)])
    assert list(images) == ["original", "reconstruction"]


def test_pictures_that_do_not_fit_beside_each_other_stand_below() -> None:
    three = [Picture(GENERATOR.random((28, 28))) for _ in range(3)]
    assert len(picture_lines(three, columns=88).plain.split("\n")) == 14
    lines = picture_lines(three, has_colour=False, columns=78).plain.split("\n")
    assert len(lines) == 28 and max(map(len, lines)) == 58


def broken_at_one_epsilon() -> list[Result]:
    """Rows of one ε, up to the noise of float32, and one of a smaller ε."""
    original, adversary = (Picture(np.full((2, 2), grey)).encode() for grey in (0.0, 0.1))
    linf = {"a": 0.1, "b": 0.09999999, "c": 0.10000002, "d": 0.0999}
    confidence = {"a": 0.6, "b": 0.5, "c": 0.9, "d": 0.4}
    row = replace(sample_results()[0], original=original, adversarial=adversary)
    return [
        replace(row, case=name, linf=linf[name], l2=1.0, adversarial_confidence=confidence[name])
        for name in linf
    ]


def test_the_clearest_of_one_epsilon_is_the_most_confident() -> None:
    assert [row.case for row in clearest(broken_at_one_epsilon())] == ["d", "c", "a", "b"]


def test_the_page_sorts_as_the_terminal_does() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    script = (files("brittle.reports") / "script/rows.js").read_text()
    (key,) = re.findall(r"clearest: (\(entry\) => \{.*?\n  \}),", script, re.DOTALL)
    rows = broken_at_one_epsilon()
    entries = [
        {"status": "broken", "after": r.adversarial_confidence, "picture": {"largest": images[1]}}
        | {"id": r.case, "kept": [], "cost": None}
        for r, images in zip(rows, embedded_pictures(rows))
    ]
    program = (
        f"const key = {key}; const rows = {json.dumps(entries)}; rows.sort((a, b) => key(a) - "
        "key(b)); console.log(rows.map((row) => row.id).join(''));"
    )
    ended = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "".join(row.case for row in clearest(rows))


@pytest.mark.parametrize(("count", "is_stacked"), [(2, False), (5, False), (6, True), (10, True)])
def test_wide_tables_of_labels_stand_one_above_the_other(count: int, is_stacked: bool) -> None:
    matrix = tuple((1,) * count for _ in range(count))
    tables = Confusion(tuple(map(str, range(count))), matrix, matrix, count * count)
    section = Markup(confusion_section(tables))
    assert ('class="pair stacked"' in section) == is_stacked
    assert section.count('class="confusion"') == 2
    style = (files("brittle.reports") / "report.css").read_text()
    assert "\n.stacked { grid-template-columns: minmax(0, 1fr); }" in style


@pytest.mark.parametrize("shape", [(8, 8, 1), (7, 9, 3), (64, 48, 4), (1, 40, 1), (300, 2, 1)])
def test_blocks_are_small_and_have_two_pixels_each(shape: tuple[int, int, int]) -> None:
    picture = Picture(GENERATOR.random(shape))
    plain = picture_lines([picture, picture], has_colour=False).plain
    lines = plain.split("\n")
    assert max(map(len, lines)) <= 66 and len(lines) <= 24 and plain.strip()
    coloured = picture_lines([picture])
    assert set(coloured.plain) <= {"▀", "\n"}


def test_a_block_shows_the_upper_pixel_above_the_lower() -> None:
    text = picture_lines([Picture([[1.0], [0.0]])])
    (span,) = [span for span in text.spans if span.style]
    assert span.style.color.name == "#ffffff" and span.style.bgcolor.name == "#000000"  # type: ignore[union-attr]
    assert picture_lines([Picture([[1.0], [1.0]])], has_colour=False).plain == "@"
