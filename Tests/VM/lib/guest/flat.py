#!/usr/bin/python3
"""JSON on standard input as one line for each fact: inputs.camera.published=199. Nothing for null."""
import json, sys


def flat(name, value):
    if isinstance(value, dict):
        for key, inner in value.items():
            flat(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            flat(f"{name}.{index}" if name else str(index), inner)
    elif value is not None:
        print(f"{name}={str(value).lower() if isinstance(value, bool) else value}")


text = sys.stdin.read()
if text.strip():
    flat("", json.loads(text))
