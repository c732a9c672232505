"""From an Example to an Encoding: texts, pairs, prompts and images. Spans are the tokenizer's offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError, ModelError
from assay.core.notices import notice
from assay.core.printable import shortened
from assay.core.types import PIXELS, Example, Floats, Span
from assay.datasets.images import size_of
from assay.datasets.pixels import as_picture, as_pil
from assay.models.encoding import SPECIAL, Encoding, Ints
from assay.models.prompt import Prompt

MASKING_TOKENS = ("mask_token_id", "pad_token_id", "unk_token_id")  # in the order of preference of removals
LOST = 0.25  # share of an image above which a crop is worth a remark; 224 of 256 pixels leave out 0.23
Box = tuple[int, int, int, int]  # left, top, right, bottom
Pieces = tuple[list[int], list[int], list[Span]]  # ids, token types, spans


@dataclass(frozen=True)
class TextEncoder:
    """Tokenises texts and pairs with the model's tokenizer and records the characters of each token."""

    tokenizer: Any
    limit: int  # number of positions the model can read
    first_position: int = 0
    causal: bool = False
    prompt: Prompt | None = None

    def __call__(self, example: Example) -> Encoding:
        if example.text is None:
            raise InputError(f"this model reads text, but {_kind(example)} was given")
        if not example.text.strip() and not (example.text_pair or "").strip():
            raise InputError("the text is empty; give at least one word")
        if self.prompt is not None:
            return self._prompted(example, self.prompt)
        ids, types, spans, unseen = self._tokens(example)
        if unseen:
            notice_cut(example, len(unseen), self.limit)
        return self._encoding(example, ids, types, spans, unseen=unseen)

    def _encoding(self, example: Example, ids: list[int], types: list[int], spans: list[Span], **more: Any) -> Encoding:
        self._notice_unknown(example, ids, spans)
        ids = self._masked(example.removed, ids, spans) if example.removed else ids
        n = len(ids)
        positions = np.arange(n, dtype=np.int64) + self.first_position
        return Encoding(
            example, _ints(ids), _ints(types), positions, tuple(spans), readout=n - 1 if self.causal else 0, **more
        )

    def _masked(self, removed: Sequence[Span], ids: list[int], spans: list[Span]) -> list[int]:
        """Ids with the mask token in place of each token that overlaps a removed span."""
        mask_id = next((i for name in MASKING_TOKENS if (i := getattr(self.tokenizer, name, None)) is not None), None)
        if mask_id is None:
            raise ModelError("this tokenizer has no mask, pad or unk token to mask words with")
        bounds = sorted({span for span in removed if span.start < span.end})
        ends = [(span.segment, span.end) for span in bounds]  # spans do not overlap, so their ends are sorted too

        def is_removed(span: Span) -> bool:
            at = bisect_right(ends, (span.segment, span.start))
            return at < len(bounds) and bounds[at].segment == span.segment and bounds[at].start < span.end

        return [mask_id if span.segment >= 0 and is_removed(span) else i for i, span in zip(ids, spans, strict=True)]

    def _notice_unknown(self, example: Example, ids: list[int], spans: list[Span]) -> None:
        read = {token for token, span in zip(ids, spans, strict=True) if span != SPECIAL}
        if read == {self.tokenizer.unk_token_id}:
            message = "the tokenizer does not know any character of {inputs}; scores there mean little"
            notice("unknown", message, example.content)

    def _tokens(self, example: Example) -> tuple[list[int], list[int], list[Span], tuple[Span, ...]]:
        """Ids, types and spans within the length limit, and the spans of the tokens beyond it."""
        if self.causal and example.text_pair is not None:
            return self._joined(example.text or "", example.text_pair)
        ids, types, spans = self._call(example.text, example.text_pair, None)
        if len(ids) <= self.limit:
            return ids, types, spans, ()
        truncated = self._call(example.text, example.text_pair, self.limit)
        seen = {span for span in truncated[2] if span != SPECIAL}
        return *truncated, tuple(span for span in spans if span != SPECIAL and span not in seen)

    def _joined(self, text: str, pair: str) -> tuple[list[int], list[int], list[Span], tuple[Span, ...]]:
        """A pair for a model without a separator: text, end-of-text token, pair; the longer text is truncated first."""
        first, second = self._call(text, None, None), self._call(pair, None, None, special=False)
        end = self.tokenizer.eos_token_id
        if end is None:
            raise ModelError(
                "this tokenizer has no end-of-text token to separate the texts of a pair; join them into one text"
            )
        left, right = len(first[0]), len(second[0])
        while left + right + 1 > self.limit:
            left, right = (left - 1, right) if left >= right else (left, right - 1)
        spans_right = [Span(1, s.start, s.end) for s in second[2]]
        ids = [*first[0][:left], end, *second[0][:right]]
        spans = [*first[2][:left], SPECIAL, *spans_right[:right]]
        return ids, [0] * len(ids), spans, tuple(first[2][left:] + spans_right[right:])

    def _call(self, text: str | None, pair: str | None, limit: int | None, *, special: bool = True) -> Pieces:
        cut = {} if limit is None else {"truncation": "longest_first", "max_length": limit}
        # verbose=False: Assay truncates and warns itself
        out = self.tokenizer(
            text,
            pair,
            add_special_tokens=special,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            verbose=False,
            **cut,
        )
        segments = out.sequence_ids()
        spans = [
            SPECIAL if is_special or segment is None else Span(segment, start, end)
            for (start, end), is_special, segment in zip(
                out["offset_mapping"], out["special_tokens_mask"], segments, strict=True
            )
        ]
        return list(out["input_ids"]), list(out.get("token_type_ids") or [0] * len(spans)), spans

    def _prompted(self, example: Example, prompt: Prompt) -> Encoding:
        ids, spans, prefix, unseen = prompt.tokens(self.tokenizer, example, self.limit)
        if unseen:
            notice_cut(example, len(unseen), self.limit)
        return self._encoding(example, ids, [0] * len(ids), spans, prefix=prefix, unseen=unseen)


@dataclass(frozen=True)
class ImageEncoder:
    """Pixels from the model's image processor; positions are the class token and the patches, row by row."""

    processor: Any
    patch: int
    lead: int  # positions before the patches
    channels: int = 3

    def __call__(self, example: Example) -> Encoding:
        if example.image is None:
            text = shortened(example.text or "", 60)
            raise InputError(f"this model reads images, but a text was given; there is no image file {text!r}")
        image = as_picture(example.image)
        pixels = self._pixels(image)
        if (lost := _cut_away(self.processor, size_of(image))) > LOST:
            message = "{inputs} {are} cropped by the model's image processor: {most} % of the picture is not read"
            notice("crop", message, example.content, round(100 * lost))
        boxes = self._boxes(pixels.shape[1] // self.patch, pixels.shape[2] // self.patch)
        pixels = _without_patches(pixels, [box for i, box in enumerate(boxes) if _is_removed(i, example.removed)])
        picture = self._picture(pixels)
        if not example.removed and np.ptp(picture, (0, 1)).max(initial=0) <= 1:
            notice("blank", "{inputs} {are} of one colour all over; scores there mean little", example.content)
        spans = [SPECIAL] * self.lead + [Span(0, i, i + 1) for i in range(len(boxes))]
        zeros = np.zeros(len(spans), np.int64)
        example = self._with_marked_patches(example, boxes) if example.rationales else example
        return Encoding(example, zeros, zeros, zeros, tuple(spans), pixels=pixels, picture=picture, boxes=boxes)

    def _pixels(self, picture: Any) -> Floats:
        try:
            out = self.processor(images=self._with_channels(picture), return_tensors="np")
        except (ValueError, TypeError) as error:
            reason = shortened(str(error), 200)
            raise InputError(f"the image cannot be read ({reason}); give a PIL image or an (H,W,3) array") from error
        return np.ascontiguousarray(out["pixel_values"][0], dtype=np.float32)

    def _with_marked_patches(self, example: Example, boxes: Sequence[Box]) -> Example:
        """The example with the patches that its rationales mark: a mask is scaled and cropped as the image is.

        A patch is marked if at least half of it is or, where that is none, if it has the largest marked part.
        """
        width, height = size_of(as_picture(example.image))

        def patches(spans: Sequence[Span]) -> tuple[Span, ...]:
            mask = np.zeros(height * width, np.uint8)
            for span in spans:
                mask[span.start : span.end] = 255
            scaled = self._picture(self._pixels(as_pil(mask.reshape(height, width, 1))))[..., 0] > 127
            parts = np.array([scaled[top:bottom, left:right].mean() for left, top, right, bottom in boxes])
            least = min(0.5, parts.max(initial=0))
            return tuple(Span(0, i, i + 1) for i in np.flatnonzero(parts >= least).tolist()) if least else ()

        of_pixels = [any(span.segment == PIXELS for span in spans) for spans in example.rationales]
        found = tuple(
            patches(spans) if is_mask else spans for spans, is_mask in zip(example.rationales, of_pixels, strict=True)
        )
        if any(of_pixels) and not any(found):
            message = "the rationales of {inputs} mark nothing that the model reads; they are left out of plausibility"
            notice("unseen", message, example.content)
        return replace(example, rationales=found)

    def _with_channels(self, image: Any) -> Any:
        """A picture in grey or in colour with the number of channels that the model reads."""
        if not hasattr(image, "convert"):
            if image.shape[-1] == self.channels:
                return image
            image = as_pil(image)
        image = image.convert("L" if self.channels == 1 else "RGB")
        return np.asarray(image)[..., None] if self.channels == 1 else image

    def _picture(self, pixels: Floats) -> NDArray[np.uint8]:
        """The pixels as an image: cropped and scaled as the model reads it, so that the patches fit."""
        factor = getattr(self.processor, "rescale_factor", None) if getattr(self.processor, "do_rescale", True) else 1
        mean, std = (np.reshape(self._per_channel(n, d), (-1, 1, 1)) for n, d in (("mean", 0.0), ("std", 1.0)))
        values = np.clip((pixels * std + mean) / (factor or 1 / 255), 0, 255).astype(np.uint8)
        return np.ascontiguousarray(np.broadcast_to(values, (3, *values.shape[1:])).transpose(1, 2, 0))

    def _per_channel(self, name: str, default: float) -> Sequence[float]:
        normalised = getattr(self.processor, "do_normalize", True)
        values: Sequence[float] | None = getattr(self.processor, f"image_{name}", None) if normalised else None
        return [default] if values is None else values

    def _boxes(self, height: int, width: int) -> tuple[Box, ...]:
        p = self.patch
        return tuple((x * p, y * p, (x + 1) * p, (y + 1) * p) for y in range(height) for x in range(width))


def _cut_away(processor: Any, size: tuple[int, int]) -> float:
    """The share of an image of this width and height that a processor's crop leaves out."""
    if not getattr(processor, "do_center_crop", False):
        return 0.0
    scaled, crop = dict(processor.size or {}), dict(processor.crop_size)
    if shortest := scaled.get("shortest_edge"):
        width, height = (shortest * side / min(size) for side in size)
    else:
        width, height = scaled.get("width") or size[0], scaled.get("height") or size[1]
    return 1 - min(1.0, float(crop["width"] / width)) * min(1.0, float(crop["height"] / height))


def _is_removed(patch: int, removed: Sequence[Span]) -> bool:
    return any(span.segment == 0 and span.start <= patch < span.end for span in removed)


def _without_patches(pixels: Floats, boxes: Sequence[Box]) -> Floats:
    """Each box in the mean colour of the whole image, as the removal `mean_colour` does."""
    mean, out = pixels.mean((1, 2), keepdims=True), pixels.copy() if boxes else pixels
    for left, top, right, bottom in boxes:
        out[:, top:bottom, left:right] = mean
    return out


def notice_cut(example: Example, tokens: int, limit: int) -> None:
    message = f"{{inputs}} {{are}} longer than the model's {limit} positions: {{most}} tokens were not read; "
    notice("length", message + "their units are marked seen=False and score 0", example.content, tokens)


def _ints(values: Sequence[int]) -> Ints:
    return np.asarray(values, np.int64)


def _kind(example: Example) -> str:
    return "an image" if example.image is not None else "a text"
