"""One file per preset: the settings of a paper, by study, and what the paper leaves open."""
