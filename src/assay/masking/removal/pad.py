"""Put the pad token in a unit's place; the attention mask stays 1 and positions stay where they are."""

from assay.masking.removal._by_token import ByToken

Pad = ByToken("pad", token="pad")
