"""Driving Amazon Q Developer CLI, which has no protocol: through a terminal, as a person does it."""
