"""How every page looks, as pictures that are kept: `python -m tests.looks` compares, `--accept` keeps anew."""
