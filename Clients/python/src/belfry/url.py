"""Where a broker is."""

import re
from urllib.parse import quote, urlsplit

SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def socket_url(url: str, center: str | None) -> str:
    """The address of the WebSocket of a center; raises ValueError for what is no broker's URL."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.netloc:
        raise ValueError(f"{url!r} must be an http or https URL, such as http://127.0.0.1:8080")
    if parts.query or parts.fragment:
        raise ValueError(f"{url!r} must have no query and no fragment")
    try:
        parts.port
    except ValueError as fault:
        raise ValueError(f"{url!r} has a port that is none: {fault}") from None
    if re.search(r"^/v1/?$|/v1/centers(/|$)", parts.path):
        raise ValueError(
            f"{url!r} must end before /v1: the library adds that, and `center` names the center")
    if center in ("", ".", ".."):
        raise ValueError(f"{center!r} cannot be sent in the path of a URL: name another center")
    path = "/v1" if center is None else f"/v1/centers/{quote(center, safe='')}"
    return f"{SCHEMES[parts.scheme]}://{parts.netloc}{parts.path.rstrip('/')}{path}/ws"
