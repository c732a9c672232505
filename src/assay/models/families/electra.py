"""ELECTRA (Clark et al. 2020): BERT with an optional projection after the embeddings; head with GELU at [CLS]."""

from assay.models.families import Family

Electra = Family("electra", ("electra",))
