"""Small files that would become large: each is refused before it fills the memory."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from brittle import data
from brittle.errors import UsageError
from brittle.picture import MAX_PIXELS, Picture
from brittle.safety import files
from brittle.safety.files import unpacked_limit
from brittle.workflow import artifacts

TOO_LARGE = "far more than its own size"


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the bombs of these tests are small ones."""
    monkeypatch.setattr(files.unpacked_limit, "__defaults__", (1 << 16,))
    monkeypatch.setattr(files.check_archive, "__defaults__", (1 << 16,))
    monkeypatch.setattr(data.pictures, "MIN_ARRAYS_BYTES", 1 << 16)
    monkeypatch.setattr(artifacts, "MIN_UNPACKED_BYTES", 1 << 16)


def test_the_limit_grows_with_the_file() -> None:
    assert unpacked_limit(10) == 1 << 16
    assert unpacked_limit(1 << 20) == 50 << 20
    assert unpacked_limit(10, least=5) == 500


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_packed_table(tmp_path: Path, ending: str) -> None:
    row = json.dumps({"text": "a"}) if ending == "jsonl" else "a"
    for rows, is_bomb in ((100, False), (1 << 20, True)):
        path = tmp_path / f"{rows}.{ending}.gz"
        path.write_bytes(gzip.compress(f"{row if ending == 'jsonl' else 'text'}\n".encode()))
        path.write_bytes(path.read_bytes() + gzip.compress(f"{row}\n".encode() * rows))
        if is_bomb:
            with pytest.raises(UsageError, match=TOO_LARGE):
                data.load(str(path))
        else:
            assert len(data.load(str(path)).examples) >= rows


def test_a_parquet_file_whose_rows_are_stored_once(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    parquet.write_table(arrow.table({"text": ["a long text " * 1000] * 5000}), path)
    assert path.stat().st_size < 1 << 18
    with pytest.raises(UsageError, match=TOO_LARGE):
        data.load(str(path))
    plain = [f"text number {i}" for i in range(3000)]
    parquet.write_table(arrow.table({"text": plain}), path)
    assert [dict(e.fields)["text"] for e in data.load(str(path)).examples] == plain


def test_arrays(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.zeros((1000, 28, 28), np.uint8), y=np.arange(1000) % 2)
    with pytest.raises(UsageError, match=TOO_LARGE):
        data.load(str(path))


def test_an_array_that_claims_to_be_larger_than_the_memory(tmp_path: Path) -> None:
    path, content = tmp_path / "claims.npz", io.BytesIO()
    np.save(content, np.zeros((4, 2, 2), np.uint8))
    claimed = content.getvalue().replace(
        b"(4, 2, 2), }" + b" " * 14, b"(4, 20000000, 2000000), }" + b" "
    )
    assert claimed != content.getvalue() and len(claimed) == len(content.getvalue())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", claimed)
    with pytest.raises(UsageError, match=r"cannot be read as an \.npz"):
        data.load(str(path))


def test_an_encoded_picture() -> None:
    picture = Picture(np.full((4, 5, 1), 1, np.float32))
    assert Picture.decode(picture.encode()) == picture
    packed = base64.b64encode(zlib.compress(bytes(1 << 22))).decode()
    side = int(MAX_PIXELS**0.5) + 1
    for shape in ("4x5x1", f"{side}x{side}x1", "-1x5x1", "4x5"):
        with pytest.raises(UsageError, match=r"Picture\.encode"):
            Picture.decode(f"{shape}:u1:{packed}")


def test_a_picture_file_with_too_many_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = pytest.importorskip("PIL.Image")
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        image.new("L", (300, 200)).save(tmp_path / name / "a.png")
    monkeypatch.setattr(data.pictures, "MAX_PIXELS", 50_000)
    with pytest.raises(UsageError, match="300 × 200 pixels"):
        data.load(str(tmp_path))
    monkeypatch.setattr(image, "MAX_IMAGE_PIXELS", 20_000)  # Pillow refuses twice as many itself
    with pytest.raises(UsageError, match="cannot be read as a picture"):
        data.load(str(tmp_path))


def test_a_skops_file(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    from brittle.targets.sklearn import load_skops

    path = tmp_path / "bomb.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", '{"a": [' + "[]," * (1 << 20) + "[]]}")
    with pytest.raises(UsageError, match=TOO_LARGE):
        load_skops(path)


def test_an_archive_of_results(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(artifacts.MANIFEST, " " * (1 << 20) + "{}")
    with pytest.raises(UsageError, match=TOO_LARGE):
        artifacts.unpack(path, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
