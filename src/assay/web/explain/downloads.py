"""An explanation as a file: a self-contained page, JSON, or a picture."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from assay.core.explanations import Explanations
from assay.core.plot import png
from assay.core.types import Attribution
from assay.web.explain.work import Explained

Kind = Literal["html", "json", "png"]


def make(explained: Explained, kind: Kind) -> tuple[bytes, str]:
    """The content of the file and its type."""
    if kind == "json":
        return json.dumps(explained.to_dict(), indent=1, ensure_ascii=False).encode(), "application/json"
    attributions = _with_picture(explained)
    if kind == "html":
        return Explanations(attributions).to_html().encode("utf-8", "backslashreplace"), "text/html; charset=utf-8"
    return png(attributions), "image/png"


def _with_picture(explained: Explained) -> Mapping[str, Attribution]:
    if explained.picture is None:
        return explained.attributions
    import numpy as np
    from PIL import Image

    content = base64.b64decode(explained.picture.partition(",")[2])
    picture = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    return {name: replace(a, picture=picture) for name, a in explained.attributions.items()}
