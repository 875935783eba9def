"""The studio: a writer's project and the tools that agents look at it with."""
