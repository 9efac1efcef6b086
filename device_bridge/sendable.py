"""Can a request be sent to a runner, and its stream be kept? What could not is refused before anything runs."""

import json
import re

from as2d_core.errors import RecordError, RequestError
from as2d_core.protocol import request_from_json, request_to_json
from as2d_core.request import Request
from as2d_core.runner.__main__ import MAX_REQUEST_CHARACTERS

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_sendable(request: Request) -> None:
    """Refuse what could not be sent, or not be kept: the runner would only complain on stderr.

    Raises:
        RequestError: it cannot be written down, is too long, or its run id is no file name.
    """
    if not _RUN_ID.fullmatch(request.run_id):
        raise RequestError(
            f"{request.run_id!r} cannot be the id of a run; use at most 100 letters, digits, dots, dashes, underscores."
        )
    try:
        text = json.dumps(request_to_json(request), allow_nan=False)
        request_from_json(json.loads(text))
    except (RecordError, TypeError, ValueError) as error:
        raise RequestError(f"The request {request.run_id} cannot be sent: {error}.") from error
    if len(text) > MAX_REQUEST_CHARACTERS:
        raise RequestError(
            f"The request {request.run_id} has {len(text)} characters; at most {MAX_REQUEST_CHARACTERS} are taken."
        )
