"""What a form of ours says, as it was sent."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request

from rireki.errors import RirekiError
from rireki.web.guard import LARGEST_FORM

__all__ = ["read_form"]

#: Fields of a form.
MOST_FIELDS = 40


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; the guard has seen to its size."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        given = parse_qs(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise RirekiError("form-too-large", most=LARGEST_FORM // 1024) from error
    return {name: values[-1].replace("\r\n", "\n") for name, values in given.items()}
