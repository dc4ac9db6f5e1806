"""What of an archive leaves it for a team: rules of its owner's, and nothing without one."""
