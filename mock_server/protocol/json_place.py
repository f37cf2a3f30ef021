"""Where a text is no JSON, by line and column."""

import json


def json_error(content: bytes) -> str:
    """Return what is wrong with a text as JSON, and where; "" if that cannot be said."""
    try:
        json.loads(content.decode())
    except json.JSONDecodeError as error:
        return f"{error.msg}, line {error.lineno} column {error.colno}"
    except (UnicodeDecodeError, RecursionError):
        pass
    return ""
