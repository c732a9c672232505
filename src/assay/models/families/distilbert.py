"""DistilBERT (Sanh et al. 2019): BERT without token types and pooler; a ReLU head at [CLS]."""

from assay.models.families import Family

Distilbert = Family("distilbert", ("distilbert",))
