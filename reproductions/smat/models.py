"""Write the models of the plans: a text model of few layers, and an image model that reads small images.

python -m reproductions.smat.models

minilm-3 is MiniLM without its last three layers. dinov2-56 is Dinov2-small with a processor of 56 x 56 pixels, that is
4 x 4 patches; its weights are unchanged, because Dinov2 interpolates its position embeddings.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file

MODELS, OUTPUT = Path("reproductions/models"), Path("reproductions/smat/models")
BLOCK = re.compile(r"encoder\.layer\.(\d+)\.")
LAYERS, SIDE = 3, 56


def shallow(base: Path, output: Path, layers: int = LAYERS) -> None:
    """The first layers of a BERT, with its embeddings and its tokenizer."""
    output.mkdir(parents=True, exist_ok=True)
    kept = {
        name: tensor
        for name, tensor in load_file(base / "model.safetensors").items()
        if not (block := BLOCK.search(name)) or int(block[1]) < layers
    }
    save_file(kept, output / "model.safetensors", {"format": "pt"})
    for file in base.glob("*token*"):
        shutil.copyfile(file, output / file.name)
    for file in base.glob("vocab*"):
        shutil.copyfile(file, output / file.name)
    _changed(base, output, "config.json", num_hidden_layers=layers)


def small_images(base: Path, output: Path, side: int = SIDE) -> None:
    """The same weights with a processor that scales images down."""
    output.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(base / name, output / name)
    size = {"size": {"shortest_edge": side}, "crop_size": {"height": side, "width": side}}
    _changed(base, output, "preprocessor_config.json", **size)


def _changed(base: Path, output: Path, name: str, **settings: object) -> None:
    """A copy of a JSON file with other settings; written last, it marks a finished folder."""
    content = json.loads((base / name).read_text(encoding="utf-8")) | settings
    (output / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    if not (OUTPUT / "minilm-3" / "config.json").is_file():
        shallow(MODELS / "minilm", OUTPUT / "minilm-3")
    if not (OUTPUT / "dinov2-56" / "preprocessor_config.json").is_file():
        small_images(MODELS / "dinov2-small-imgfocus", OUTPUT / "dinov2-56")
    print(*sorted(OUTPUT.iterdir()))


if __name__ == "__main__":
    main()
