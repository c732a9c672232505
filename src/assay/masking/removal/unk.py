"""Put the unknown token in a unit's place."""

from assay.masking.removal._by_token import ByToken

Unk = ByToken("unk", token="unk")
