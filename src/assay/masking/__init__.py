"""Units, removals, and the one place that asks a model about masked inputs."""
