"""The web app: the archive's conversations in a browser, as they happen."""
