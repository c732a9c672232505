"""Encodings: read-out and positions fixed from the original, whatever is removed later."""

from __future__ import annotations

import numpy as np
import pytest

import toys
from assay import Example, InputError, ModelError
from assay.core.types import PIXELS, Span
from assay.models.encode import ImageEncoder, TextEncoder
from assay.models.encoding import SPECIAL, collate


def test_ids_and_types_are_the_tokenizers_own():
    tokenizer = toys.wordpiece()
    for text, pair in [("a modest pleasure", None), ("a film", "accomplishes its goals")]:
        encoding, plain = TextEncoder(tokenizer, 64)(Example(text, pair)), tokenizer(text, pair)
        assert encoding.ids.tolist() == plain["input_ids"]
        assert encoding.types.tolist() == plain["token_type_ids"]
        specials = [i for i, span in enumerate(encoding.spans) if span == SPECIAL]
        assert specials == [i for i, t in enumerate(plain["input_ids"]) if t in tokenizer.all_special_ids]


def test_read_out_and_positions():
    encoder = TextEncoder(toys.byte_bpe(), 64, first_position=2, causal=True)
    encoding = encoder(Example("a modest pleasure"))
    assert encoding.readout == len(encoding) - 1
    assert encoding.positions.tolist() == list(range(2, 2 + len(encoding)))
    assert TextEncoder(toys.wordpiece(), 64)(Example("a film")).readout == 0


def test_truncation_is_the_tokenizers_own():
    tokenizer = toys.wordpiece()
    text, pair = "a bad plot is sad", "a film"
    with pytest.warns(UserWarning, match="2 tokens were not read"):
        encoding = TextEncoder(tokenizer, 8)(Example(text, pair))
    plain = tokenizer(text, pair, truncation="longest_first", max_length=8)
    assert encoding.ids.tolist() == plain["input_ids"]
    assert [(s.start, s.end) for s in encoding.unseen] == [(11, 13), (14, 17)]


def test_exactly_at_the_limit_nothing_is_cut():
    tokenizer = toys.wordpiece()
    n = len(tokenizer("a bad plot is sad")["input_ids"])
    assert TextEncoder(tokenizer, n)(Example("a bad plot is sad")).unseen == ()


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000"])
def test_empty(text):
    with pytest.raises(InputError, match="the text is empty; give at least one word"):
        TextEncoder(toys.wordpiece(), 64)(Example(text))
    with pytest.raises(InputError, match="the text is empty"):
        TextEncoder(toys.wordpiece(), 64)(Example(text, " "))
    assert TextEncoder(toys.wordpiece(), 64)(Example(text, "a film")).example.text_pair == "a film"


def test_the_wrong_kind():
    with pytest.raises(InputError, match="this model reads text, but an image was given"):
        TextEncoder(toys.wordpiece(), 64)(Example(image=np.zeros((4, 4, 3))))
    with pytest.raises(InputError, match="this model reads images, but a text was given"):
        ImageEncoder(None, 2, 1)(Example("a film"))


def test_a_causal_pair_needs_an_end_token():
    from transformers import PreTrainedTokenizerFast

    bare = PreTrainedTokenizerFast(tokenizer_object=toys.byte_bpe().backend_tokenizer)
    with pytest.raises(ModelError, match="no end-of-text token to separate the texts of a pair"):
        TextEncoder(bare, 64, causal=True)(Example("a", "b"))


def test_image_patches_are_boxes_row_by_row():
    pixels = np.arange(3 * 4 * 6, dtype=np.float32).reshape(3, 4, 6)

    def processor(images, return_tensors):
        return {"pixel_values": images.transpose(2, 0, 1)[None]}

    encoding = ImageEncoder(processor, 2, 1)(Example(image=pixels))
    assert encoding.boxes[:4] == ((0, 0, 2, 2), (2, 0, 4, 2), (4, 0, 6, 2), (0, 2, 2, 4))
    assert len(encoding) == 7
    assert encoding.spans[0] == SPECIAL


def mark(left, top, right, bottom, width=12):
    return tuple(Span(PIXELS, y * width + left, y * width + right) for y in range(top, bottom))


def image_processor(**settings):
    from transformers import ViTImageProcessorPil

    return ViTImageProcessorPil(image_mean=[0.5] * 3, image_std=[0.5] * 3, **settings)


def patches_of(processor, rationale, width=12):
    image = np.random.default_rng(0).integers(0, 256, (8, width, 3), np.uint8)
    example = Example(image=image, rationales=(rationale,))
    (spans,) = ImageEncoder(processor, 4, 1)(example).example.rationales
    return [(span.segment, span.start) for span in spans]


def test_marked_pixels_become_the_patches_that_they_fill():
    same = image_processor(size={"height": 8, "width": 12})  # 2 x 3 patches
    assert patches_of(same, mark(8, 4, 10, 8)) == [(0, 5)]  # half of the last patch
    assert patches_of(same, mark(4, 0, 9, 4)) == [(0, 1)]
    assert patches_of(same, mark(3, 0, 9, 8)) == [(0, 1), (0, 4)]
    assert patches_of(same, mark(0, 0, 1, 1)) == [(0, 0)]  # less than half of any: the largest part
    doubled = image_processor(size={"height": 16, "width": 24})
    assert patches_of(doubled, mark(2, 2, 4, 4)) == [(0, 7)]
    square = image_processor(size={"height": 8, "width": 8})  # squeezed
    assert patches_of(square, mark(6, 0, 12, 4)) == [(0, 1)]


def test_marks_follow_a_crop():
    from transformers import BitImageProcessorPil

    crop = BitImageProcessorPil(
        size={"shortest_edge": 8}, crop_size={"height": 8, "width": 8}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    cropped = "1 input is cropped by the model's image processor: 50 % of the picture is not read"
    with pytest.warns(UserWarning, match=cropped):
        assert patches_of(crop, mark(8, 4, 12, 8, width=16), width=16) == [(0, 3)]
    nothing = "the rationales of 1 input mark nothing that the model reads; they are left out of plausibility"
    with pytest.warns(UserWarning, match=nothing), pytest.warns(UserWarning, match=cropped):
        assert patches_of(crop, mark(0, 0, 4, 8, width=16), width=16) == []


def test_patches_that_a_rationale_names_stay():
    assert patches_of(image_processor(size={"height": 8, "width": 12}), (Span(0, 3, 4),)) == [(0, 3)]


def test_an_array_and_a_file_of_another_number_of_channels_are_the_same_picture():
    from PIL import Image

    grey = np.random.default_rng(0).integers(0, 256, (8, 12, 1), np.uint8)
    encoder = ImageEncoder(image_processor(size={"height": 8, "width": 12}), 4, 1)
    by_array, by_image = (encoder(Example(image=i)).picture for i in (grey, Image.fromarray(grey[..., 0])))
    assert np.array_equal(by_array, by_image)
    assert np.array_equal(by_array[..., 1], by_array[..., 0])


def test_a_picture_is_shown_as_it_is_when_the_processor_does_not_rescale():
    image = np.random.default_rng(0).integers(0, 256, (8, 12, 3), np.uint8)
    raw = image_processor(size={"height": 8, "width": 12}, do_rescale=False, do_normalize=False)
    assert np.array_equal(ImageEncoder(raw, 4, 1)(Example(image=image)).picture, image)


def test_an_unreadable_image():
    def processor(images, return_tensors):
        raise ValueError("no channels")

    with pytest.raises(InputError, match=r"cannot be read \(no channels\); give a PIL image"):
        ImageEncoder(processor, 4, 1)(Example(image=np.zeros((1, 1, 1))))


def test_collate_pads_on_the_right():
    import torch

    encoder = TextEncoder(toys.wordpiece(), 64)
    short, long = encoder(Example("a film")), encoder(Example("a bad plot"))
    batch = collate([short.rows(), long.rows(2)], 7, torch.device("cpu"), torch.float32)
    assert batch.ids.shape == (3, 5)
    assert batch.ids[0].tolist() == [*short.ids.tolist(), 7]
    assert batch.mask.tolist() == [[1, 1, 1, 1, 0], [1] * 5, [1] * 5]
    assert batch.positions.tolist() == [[0, 1, 2, 3, 0], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
