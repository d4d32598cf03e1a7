"""A trained generator of pictures, and descent in a latent space. Needs torch.

Descent in a latent space towards a picture, with the generator fixed. This file needs torch. A
trained generator of pictures: encodes them by its inverter. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.errors import UsageError
from brittle.latent import LatentPoint, encoded_points
from brittle.picture import Picture, Shape, stack
from brittle.ranking.moves import as_tensor
from brittle.ranking.top_k import whole_rows
from brittle.zoo import folder as folders
from brittle.zoo.device import cores, portable_device, torch_device
from brittle.zoo.families import restore_settings
from brittle.zoo.folder import Card
from brittle.zoo.generators.networks import Wgan, build, fast_decoder
from brittle.zoo.generators.refining import descend, refined_identity
from brittle.zoo.restoring import ThreadUse, restore_weights

PARTS = ("generator", "inverter")  # of the networks; the critic only trains them
ROWS_PER_PASS = 256
"""Items per forward pass: fewer waste time, more do not fit into the caches of a core."""
MEDIAN = 0.5


class PictureGenerator:
    """Encodes pictures of one shape as latent points and decodes points, whole batches at once.

    A row is computed alike in every batch: passes have a multiple of 16 rows. With `refine` the
    inverter's latent points are improved by so many steps of descent (section 6 of the paper).
    """

    item_kind = "picture"
    batch = 2 * ROWS_PER_PASS

    def __init__(
        self, card: Card, generator: nn.Module, inverter: nn.Module, device: str, refine: int = 0
    ) -> None:
        self.card, self.device, self.refine = card, device, refine
        self.generator, self.inverter = generator, inverter
        self.decoder = fast_decoder(generator)
        height, width, channels = card.parts["shape"]
        self.shape: Shape = (height, width, channels)
        self.name, self.fingerprint = refined_identity(card, refine)
        self.size = int(card.settings["latent"])
        on_cpu = device == "cpu"
        self.parallel = cores() if on_cpu else 1
        self._threads = ThreadUse(1) if on_cpu else None

    def __repr__(self) -> str:
        return f"PictureGenerator({self.name!r})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Travel by content: a worker has the weights, and no folder of the driver's."""
        tensors = {
            f"{part}.{name}": tensor.cpu().numpy()
            for part in PARTS
            for name, tensor in getattr(self, part).state_dict().items()
        }
        device = portable_device(self.device)
        return restore_picture_generator, (self.card, tensors, device, self.refine)

    def check_item(self, item: Any) -> None:
        """Refuse what is no picture of the generator's shape."""
        stack([item], self.shape, self._who)

    def encode(self, items: Sequence[Any]) -> list[LatentPoint]:
        return encoded_points(self.latent_rows(items), self.name)

    def decode(self, points: Sequence[LatentPoint]) -> list[Picture]:
        return Picture.rows(self.pixels(self.checked_rows(points)))

    def refined(self, steps: int) -> PictureGenerator:
        """Return the same generator with latent points that are improved by descent."""
        return PictureGenerator(self.card, self.generator, self.inverter, self.device, steps)

    def latent_rows(self, items: Sequence[Any]) -> NDArray[np.float32]:
        """Return the latent points of pictures, one a row."""
        pixels = as_tensor(stack(items, self.shape, self._who), self.device)
        rows = self._passes(self.inverter, pixels)
        if self.refine:
            for start in range(0, len(rows), ROWS_PER_PASS):
                part = slice(start, start + ROWS_PER_PASS)
                rows[part] = self._refined(rows[part], pixels[part])
        return rows

    def _refined(self, rows: NDArray[np.float32], pixels: Tensor) -> NDArray[np.float32]:
        """Move latent points so that they decode to pictures nearer to these, by squared error."""
        wanted = whole_rows(pixels.flatten(1))

        def error(z: Tensor) -> Tensor:
            squares: Tensor = (self.generator(z).flatten(1) - wanted).square().sum(dim=1)
            return squares

        start = whole_rows(torch.from_numpy(rows).to(self.device))
        refined: NDArray[np.float32] = descend(error, start, self.refine)[: len(rows)].cpu().numpy()
        return refined

    def checked_rows(self, points: Sequence[LatentPoint]) -> NDArray[np.float32]:
        """Return points as rows; one of another size is an error."""
        for point in points:
            if point.vector.size != self.size:
                raise UsageError(
                    f"{self._who} decodes points of {self.size} numbers, but got one of "
                    f"{point.vector.size}. Encode with the same generator."
                )
        rows = [point.vector for point in points]
        return np.stack(rows) if rows else np.zeros((0, self.size), np.float32)

    def pixels(self, latent: NDArray[np.float32]) -> NDArray[np.float32]:
        """Decode rows of numbers to pictures × height × width × channels."""
        pixels = self._passes(self.decoder, torch.from_numpy(latent).to(self.device))
        return pixels.reshape(len(latent), self.shape[2], *self.shape[:2]).transpose(0, 2, 3, 1)

    def rebuilding_errors(self, items: Sequence[Any]) -> NDArray[np.float64]:
        """Return for every picture the root mean square of the pixels of G(I(x)) − x."""
        rebuilt = self.pixels(self.latent_rows(items)).astype(np.float64)
        difference = rebuilt - stack(items, self.shape, self._who)
        error: NDArray[np.float64] = np.sqrt((difference**2).mean(axis=(1, 2, 3)))
        return error

    def doubt(self, items: Sequence[Any]) -> str | None:
        """Return a warning if pictures are rebuilt so badly that they are of another kind.

        That is so if half of them are rebuilt worse than 99 of 100 that were held out of training.
        """
        limit = self.card.measures.get("reconstruction error", {}).get("99 of 100")
        if limit is None or not items:
            return None
        error = float(np.quantile(self.rebuilding_errors(items), MEDIAN))
        if error <= limit:
            return None
        return (
            f"The generator {self.name} seems to come from other data: it reconstructs these "
            f"pictures with an RMS error of {error:.3f} (median of {len(items)}), but "
            f"99 of 100 held-out pictures of its own data with less than {limit:.3f}. Adversarial "
            "pictures will not look like these. Use a generator trained on them."
        )

    def close(self) -> None:
        self.generator = self.inverter = self.decoder = nn.Identity()
        if self._threads is not None:
            self._threads.close()

    @property
    def _who(self) -> str:
        return f"The generator {self.name!r}"

    def _passes(self, network: nn.Module, rows: Tensor) -> NDArray[np.float32]:
        """Return what a network computes of rows, each as a flat row."""
        parts = [torch.zeros(0)] if not len(rows) else []
        with torch.no_grad():
            for part in torch.split(rows, ROWS_PER_PASS) if len(rows) else ():
                # A row of zeros more is never seen: it is cut off again.
                whole = whole_rows(part.flatten(1)).reshape(-1, *part.shape[1:])
                parts.append(network(whole)[: len(part)].flatten(1).cpu())
        result: NDArray[np.float32] = torch.cat(parts).numpy()
        return result


def open_picture_generator(folder: Path, card: Card, device: str, hole_id: int) -> PictureGenerator:
    """Load a generator as its card says; its weights may be of half precision."""
    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    return restore_picture_generator(card, tensors, device)


def restore_picture_generator(
    card: Card, tensors: Mapping[str, NDArray[Any]], device: str, refine: int = 0
) -> PictureGenerator:
    """Build the networks of a card with these weights, which may be of half precision."""
    settings = restore_settings(card)

    def without_critic() -> Wgan:
        networks = build(card.name, settings, card.parts["shape"])
        del networks.critic
        return networks

    own = {name: t for name, t in tensors.items() if name.split(".")[0] in PARTS}
    networks = restore_weights(without_critic, own)
    where = torch_device(device)
    networks.to(where).eval().requires_grad_(False)
    return PictureGenerator(card, networks.generator, networks.inverter, where, refine)
