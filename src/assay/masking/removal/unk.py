"""Replace units by the unknown token."""

from assay.masking.removal._by_token import ByToken

Unk = ByToken("unk", token="unk")
