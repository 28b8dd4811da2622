#!/usr/bin/env python3
"""Writes the generated golden cases: input/ and case.toml of each (expected/ is run.py's).

usage: make_cases.py          cases that a module in case_sets/ describes are written anew
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_sets import auto_match, build, commands, compare, errors, layout, locating, match, overflow, tables  # noqa: E402

if __name__ == "__main__":
    for module in (commands, layout, build, match, compare, errors, tables, auto_match, overflow, locating):
        module.make()
