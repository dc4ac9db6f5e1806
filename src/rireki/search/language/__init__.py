"""The query language: its tree, its parser, its words, and what every form of it means."""
