"""ViT (Dosovitskiy et al. 2021): patches as tokens behind a class token."""

from assay.models.families import Family

Vit = Family("vit", ("vit", "deit"), images=True, positions="none", lead=1)
