"""RoBERTa (Liu et al. 2019): positions are counted from the pad id; one pad in the text moves all."""

from assay.models.families import Family

Roberta = Family("roberta", ("roberta", "camembert"), positions="after_pad")
