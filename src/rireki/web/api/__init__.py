"""The HTTP API: JSON under `/api/v1`, with the names of the model."""

from rireki.web.api.routes import PREFIX, ROUTES

__all__ = ["PREFIX", "ROUTES"]
