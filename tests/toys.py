"""Small models with known answers: classifiers in closed form, random BERT and GPT-2, and four kinds of tokenizer.

The vocabularies of WordPiece and Unigram are fixed lists: their trainers break ties by hash order.
"""

from __future__ import annotations

import string
import unicodedata
from functools import cache
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from assay.models.load import load_model
from assay.models.model import Model

ENGLISH = [
    "a modest pleasure that accomplishes its goals with ease and confidence",
    "the plot is thin , the acting is good and the ending is bad",
    "It isn't a film; it's a slow, sad poem. Would I see it again? Yes!",
    "Review: the soup was good. Sentiment: positive negative neutral",
]
SCRIPTS = {
    "arabic": "هذا فيلم جميل جدا. هل أعجبك؟ نعم",
    "hebrew": "שָׁלוֹם עולם, הסרט טוב",
    "persian": "من می‌خواهم این فیلم را ببینم",
    "hindi": "यह हिन्दी फ़िल्म अच्छी है। बहुत अच्छी",
    "chinese": "这部电影很好看。我喜欢它！",
    "japanese": "とても良い映画でした。また見たい",
    "korean": "이 영화는 정말 좋았어요.",
    "thai": "หนังเรื่องนี้ดีมาก",
    "emoji": "loved it 👨‍👩‍👧‍👦 👍🏽👍 ❤️ 🇩🇪🇫🇷 1️⃣ ok😀😀",
    "combining": "un cafe\u0301 tre\u0300s na\u00efve, Zu\u0308rich e\u0301t\u0323e\u0301",
    "mixed": "a  tab\there,\nnew line\n\n  and   spaces ",
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


# --- tokenizers --------------------------------------------------------------------------------------------------


WORDS = """a the is it film plot poem modest pleasure that its goals with ease and good bad sad slow acting ending thin
see again i not like soup was positive negative neutral"""
WHOLE = WORDS.split()


def _characters() -> list[str]:
    """Every character of the texts except white space and emoji, also decomposed."""
    text = "".join([*ENGLISH, *(t for name, t in SCRIPTS.items() if name != "emoji")]).lower()
    text += unicodedata.normalize("NFD", text) + string.ascii_lowercase
    return sorted({c for c in text if not c.isspace()})


@cache
def wordpiece() -> PreTrainedTokenizerFast:
    """As BERT's: accents stripped, unknown words split into characters, [CLS] a [SEP] b [SEP]."""
    pieces = [*SPECIAL, *WHOLE, "accom", "confi", "##plish", "##dence", "##es", *_characters()]
    pieces = list(dict.fromkeys([*pieces, *(f"##{c}" for c in _characters())]))
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=ids
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)),
    )


@cache
def byte_bpe() -> PreTrainedTokenizerFast:
    """As GPT-2's: words start with their space, an emoji is several tokens; no mask or separator, one special token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=560, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    words = [*ENGLISH * 4, "a positive , a negative , a neutral :\n\n", "Review: a\nSentiment: positive\n\nReview:"]
    tokenizer.train_from_iterator(words, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|end|>", bos_token="<|end|>", pad_token="<|end|>"
    )


@cache
def greedy_bpe() -> PreTrainedTokenizerFast:
    """As Llama 3's: punctuation includes the new lines after it, so ":" and ":\\n\\n" are different tokens."""
    pattern = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=560,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*ENGLISH, "a:\nb", "a:\n\nb", "a:\n\n\nb", " positive negative"] * 4, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|end|>", bos_token="<|end|>", pad_token="<|end|>"
    )


@cache
def metaspace() -> PreTrainedTokenizerFast:
    """As T5's and XLM-R's: "▁" stands for the space before a word."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = [*((token, 0.0) for token in special), *((f"▁{word}", -4.0) for word in WHOLE), ("▁", -6.0)]
    pieces += [(c, -8.0) for c in _characters()]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.add_special_tokens(special)
    ids = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ids
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    )


TOKENIZERS = {"wordpiece": wordpiece, "byte_bpe": byte_bpe, "greedy_bpe": greedy_bpe, "metaspace": metaspace}


# --- random transformers -----------------------------------------------------------------------------------------


def _set_large_weights(module: nn.Module, scale: float) -> None:
    """Initialise with weights large enough that attention is uneven and every token matters."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 1.0 if "embedding" in name else scale / parameter.shape[-1] ** 0.5)
            else:
                parameter.add_(0.1 * torch.randn_like(parameter))


def bert_hf(seed: int = 0, *, layers: int = 2, classes: int = 2, positions: int = 64, **more: Any) -> Any:
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(wordpiece()),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
        num_labels=classes,
        **more,
    )
    hf = BertForSequenceClassification(config)
    _set_large_weights(hf, 1.5)
    return hf.eval()


def bert(seed: int = 0, **more: Any) -> Model:
    return load_model((bert_hf(seed, **more), wordpiece()))


def gpt2_hf(seed: int = 0, *, layers: int = 2, heads: int = 4, lm: bool = False, positions: int = 128) -> Any:
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=max(len(byte_bpe()), len(greedy_bpe())),
        n_embd=8 * heads,
        n_layer=layers,
        n_head=heads,
        n_positions=positions,
        pad_token_id=byte_bpe().pad_token_id,
        bos_token_id=byte_bpe().bos_token_id,
        eos_token_id=byte_bpe().eos_token_id,
    )
    hf = (GPT2LMHeadModel if lm else GPT2ForSequenceClassification)(config)
    _set_large_weights(hf, 1.0)
    return hf.eval()


def gpt2(seed: int = 0, **more: Any) -> Model:
    return load_model((gpt2_hf(seed, **more), byte_bpe()))


# --- classifiers in closed form ----------------------------------------------------------------------------------


class ClosedConfig(PreTrainedConfig):
    model_type = "closed_form"

    def __init__(self, vocab_size: int = 400, width: int = 6, positions: int = 64, power: int = 1, **more: Any) -> None:
        self.vocab_size, self.width, self.positions, self.power = vocab_size, width, positions, power
        super().__init__(**more)


class ClosedForSequenceClassification(PreTrainedModel):
    """logits_c = (bias_c + sum_t <weight_tc, e_t>) ^ power over real positions t: linear for power 1."""

    config_class = ClosedConfig

    def __init__(self, config: ClosedConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.width)
        self.weight = nn.Parameter(torch.randn(config.positions, config.num_labels, config.width))
        self.bias = nn.Parameter(torch.randn(config.num_labels))
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.words

    def linear(self, e: Tensor, mask: Tensor) -> Tensor:
        return torch.einsum("btd,bt,tcd->bc", e, mask.to(e.dtype), self.weight[: e.shape[1]]) + self.bias

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SequenceClassifierOutput:
        total = self.linear(self.words(input_ids), attention_mask)
        return SequenceClassifierOutput(logits=total**self.config.power)


class PerceptronForSequenceClassification(ClosedForSequenceClassification):
    """Two hidden layers of elementwise activations on a linear map of all embeddings: DeepLIFT is complete here."""

    def __init__(self, config: ClosedConfig) -> None:
        super().__init__(config)
        self.first, self.second = nn.GELU(), nn.ReLU()
        self.middle, self.last = nn.Linear(config.num_labels, 16), nn.Linear(16, config.num_labels)
        self.post_init()

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SequenceClassifierOutput:
        hidden = self.first(self.linear(self.words(input_ids), attention_mask))
        return SequenceClassifierOutput(logits=self.last(self.second(self.middle(hidden))))


def closed(power: int = 1, *, perceptron: bool = False, seed: int = 0, classes: int = 3) -> Model:
    torch.manual_seed(seed)
    cls = PerceptronForSequenceClassification if perceptron else ClosedForSequenceClassification
    hf = cls(ClosedConfig(len(wordpiece()), power=power, num_labels=classes))
    with torch.no_grad():
        for parameter in hf.parameters():
            parameter.normal_(0, 0.5)
    return load_model((hf.eval(), wordpiece()))


def play(method: Any, n: int, game: Any, seed: int = 0) -> Any:
    """Run a black-box method on a game: `game(keep)` maps (M,n) masks to (M,) values."""
    import numpy as np

    flow = method.flow(n, np.random.default_rng(seed))
    try:
        keep = next(flow)
        while True:
            keep = flow.send(np.asarray(game(np.asarray(keep, bool)), float))
    except StopIteration as stop:
        return getattr(stop.value, "scores", stop.value)
