"""Replace units by the pad token; attention mask and positions stay the same."""

from assay.masking.removal._by_token import ByToken

Pad = ByToken("pad", token="pad")
