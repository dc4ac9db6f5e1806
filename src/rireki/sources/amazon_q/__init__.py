"""Amazon Q CLI and Kiro CLI: one conversation format in several stores; a reader for each product."""
