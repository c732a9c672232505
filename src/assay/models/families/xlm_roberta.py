"""XLM-R (Conneau et al. 2020): RoBERTa with a multilingual SentencePiece vocabulary."""

from assay.models.families import Family

XlmRoberta = Family("xlm_roberta", ("xlm-roberta", "xlm-roberta-xl"), positions="after_pad")
