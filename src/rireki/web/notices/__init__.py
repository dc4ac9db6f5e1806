"""Telling the person elsewhere that an agent waits: by ntfy, a webhook, or a browser's own push."""
