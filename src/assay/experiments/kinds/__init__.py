"""Kinds of jobs. One file each: what a plan may say of it, how it is cut into jobs, and what a job does."""

from assay.core.catalog import Catalog

KINDS = Catalog("assay.experiments.kinds", "kind of study")
