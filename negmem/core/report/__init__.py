"""The state of a deployment: read section by section, each failing alone, and drawn as one HTML page."""
