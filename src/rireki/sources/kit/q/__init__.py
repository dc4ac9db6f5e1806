"""What Amazon Q CLI and Kiro CLI have in common: one conversation format in several stores."""
