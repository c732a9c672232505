"""Write the image model of cifar.yaml: Dinov2-small with a processor of 56 x 56 pixels, that is 4 x 4 patches.

python -m reproductions.smat.models

The weights are unchanged: Dinov2 interpolates its position embeddings.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

BASE = Path("reproductions/models/dinov2-small-imgfocus")
OUTPUT = Path("reproductions/smat/models/dinov2-56")
SIDE = 56


def main() -> None:
    if not (OUTPUT / "preprocessor_config.json").is_file():
        OUTPUT.mkdir(parents=True, exist_ok=True)
        for name in ("config.json", "model.safetensors"):
            shutil.copyfile(BASE / name, OUTPUT / name)
        settings = json.loads((BASE / "preprocessor_config.json").read_text(encoding="utf-8"))
        settings |= {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
        (OUTPUT / "preprocessor_config.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    print(OUTPUT)


if __name__ == "__main__":
    main()
