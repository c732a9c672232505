"""Replace units by the mask token."""

from assay.masking.removal._by_token import ByToken

MaskToken = ByToken("mask_token", token="mask")
