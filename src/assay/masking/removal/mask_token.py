"""Put the mask token in a unit's place: what masked language models read as "something unknown stands here"."""

from assay.masking.removal._by_token import ByToken

MaskToken = ByToken("mask_token", token="mask")
