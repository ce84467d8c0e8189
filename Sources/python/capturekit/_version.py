"""The package's version, which is captured's."""
VERSION = "1.0.0"
