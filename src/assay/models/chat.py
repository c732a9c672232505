"""Prompts in the form of a chat, filled into the chat template of the model's tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.core.errors import ModelError
from assay.models.prompt import SLOTS, Prompt

Messages = Sequence[Mapping[str, str]]
CHAT = "chat:"  # begins a prompt that is one message of the user
MARKS = {f"{{{slot}}}": f"\ue000{slot}\ue001" for slot in SLOTS}  # stand for the slots while the template is filled in


def filled_in(prompt: str | Prompt | Messages, tokenizer: Any) -> Prompt:
    """The prompt that the model reads: as it is, or inside its chat template, ready for the assistant's answer."""
    if isinstance(prompt, Prompt):
        return prompt
    if isinstance(prompt, str):
        if not prompt.startswith(CHAT):
            return Prompt(prompt)
        prompt = [{"role": "user", "content": prompt.removeprefix(CHAT).strip()}]
    _check(prompt)
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError("this model has no chat template; give the prompt as plain text, without 'chat:' or roles")
    marked = [{**message, "content": _mark(message["content"])} for message in prompt]
    try:
        text = str(tokenizer.apply_chat_template(marked, tokenize=False, add_generation_prompt=True))
    except Exception as error:  # templates are other people's programs and raise anything
        raise ModelError(f"the model's chat template does not take these messages: {error}") from error
    return Prompt(_unmark(text.removeprefix(_first_token(tokenizer))))


def _check(messages: object) -> None:
    listed = isinstance(messages, list | tuple) and len(messages) > 0
    if not listed or not all(isinstance(m, Mapping) and {"role", "content"} <= set(m) for m in messages):  # type: ignore[attr-defined]
        raise ModelError(
            "a prompt is a text with {text}, or a list of messages such as "
            "[{'role': 'user', 'content': 'Is this good or bad? {text}'}]"
        )
    Prompt("".join(str(message["content"]) for message in messages))  # type: ignore[attr-defined]  # checks the slots


def _mark(content: str) -> str:
    for slot, mark in MARKS.items():
        content = content.replace(slot, mark)
    return content.replace("{{", "{").replace("}}", "}")


def _unmark(text: str) -> str:
    text = text.replace("{", "{{").replace("}", "}}")
    for slot, mark in MARKS.items():
        text = text.replace(mark, slot)
    return text


def _first_token(tokenizer: Any) -> str:
    """The text of the token that the tokenizer adds in front; many templates write it too."""
    ids = tokenizer("a", verbose=False)["input_ids"]
    return str(tokenizer.bos_token) if ids and ids[0] == tokenizer.bos_token_id else ""
