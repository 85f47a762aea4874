"""How a server of models is reached over HTTP: the client's options, and the library's errors as ours."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2

from kebab_stream.errors import ModelTimeoutError
from kebab_stream.servers.server import ModelServer, broken_off, not_connected

CONNECT_S: Final = 5.0
"""A server that runs takes the connection at once, however busy; the answer may take as long as the settings allow."""
ERROR_BYTES: Final = 1 << 16
"""Read of a response that is no answer."""


@contextmanager
def translating(server: ModelServer) -> Iterator[None]:
    """Raise what goes wrong on the way to a server, or back, as an error of ours.

    Raises:
        ModelUnreachableError: it cannot be reached, or broke off.
    """
    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
        raise not_connected(server, _told(error)) from error
    except httpx2.RequestError as error:
        raise broken_off(server, _told(error)) from error
    except httpx2.InvalidURL as error:
        raise not_connected(server, f"no usable address ({error})") from error


def async_client(server: ModelServer) -> httpx2.AsyncClient:
    """A client that waits for an answer without end: the caller sees to the time. Blocks for some milliseconds."""
    try:
        return httpx2.AsyncClient(**_options(server))
    except (ValueError, ImportError, httpx2.InvalidURL) as error:
        raise _bad_proxy(server, error) from error


def timed_out(server: ModelServer) -> ModelTimeoutError:
    """It takes too long."""
    return ModelTimeoutError(
        f"{server.model} at {server.endpoint} did not finish its answer within {server.timeout_s:g} s",
        f"raise {server.SECTION}.timeout_s, or use a smaller model; the first answer includes loading it",
        server.details(timeout_s=server.timeout_s),
    )


def _options(server: ModelServer) -> dict[str, Any]:
    """No redirect is followed, and a proxy of the environment is used only for servers elsewhere."""
    return {
        # Certificates are read only where they are needed: that takes 50 ms and more.
        "verify": httpx2.create_ssl_context() if server.url.startswith("https:") else _no_certificates(),
        "trust_env": not server.is_local,
        "follow_redirects": False,
        "timeout": httpx2.Timeout(None, connect=CONNECT_S),
    }


def _no_certificates() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _bad_proxy(server: ModelServer, error: Exception) -> Exception:
    return not_connected(server, f"the proxy that the environment names cannot be used ({error})")


def _told(error: Exception) -> str:
    if isinstance(error, httpx2.ConnectTimeout):
        return f"no connection within {CONNECT_S:g} s"
    return str(error) or type(error).__name__
