"""BERT (Devlin et al. 2019): post-norm encoder, read out at [CLS] through a pooler."""

from assay.models.families import Family

Bert = Family("bert", ("bert",))
