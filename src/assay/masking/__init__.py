"""Units, removals, and the Game that runs a model on masked inputs."""
