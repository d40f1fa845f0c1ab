"""The steps of the pipeline, a module each, found by name."""
