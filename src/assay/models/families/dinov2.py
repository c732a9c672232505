"""DINOv2 (Oquab et al. 2023): a ViT read out at the class token and the mean of the patches."""

from assay.models.families import Family

Dinov2 = Family("dinov2", ("dinov2",), images=True, positions="none", lead=1, pools=True)
