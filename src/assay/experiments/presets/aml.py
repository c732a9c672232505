"""Attributive Masking Learning: the five metrics of its tables. Its methods are not part of the preset."""

from assay.experiments.preset import Preset, StudyPreset

Aml = Preset(
    paper="Attributive Masking Learning",
    studies={
        "evaluate": StudyPreset(
            settings={
                "metrics": (
                    "sufficiency",
                    "comprehensiveness",
                    "log_odds",
                    "sufficiency(aopc=True)",
                    "comprehensiveness(aopc=True)",
                ),
                "protocol": "aml",
                "target": "predicted",
                "units": "token",
                "special_tokens": "protected",
            },
            open={
                "protocol": "It does not say how 20 % of the tokens are rounded: down, at least one. Its code rounds "
                "down to none and divides the AOPC by 6 instead of 5: protocol=aml_code.",
                "methods": "Its own method is not in Assay, and it gives no settings of those that it compares: the "
                "methods are Assay's default or yours.",
            },
        )
    },
)
