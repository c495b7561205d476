"""The server: OpenEnv's app around `TetrionEnvironment`, behind an entrance.

`uvicorn tetrion_openenv.app:app` or `tetrion-openenv` starts it. Environment variables configure it, as they do OpenEnv's
app and its containers.
"""

from __future__ import annotations

import argparse
import os
import reprlib
import sys
from collections.abc import Sequence

import tetrion
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.types import ConcurrencyConfig
from starlette.middleware.trustedhost import TrustedHostMiddleware

from tetrion_openenv.entrance import LOCAL_HOSTS, MAX_BYTES, Bounds, Origins, is_loopback
from tetrion_openenv.environment import TetrionEnvironment
from tetrion_openenv.episodes import sentence
from tetrion_openenv.models import TetrionAction, TetrionObservation, TetrionState

HELP = """environment variables:
  TETRION_OPENENV_ENVIRONMENTS  environments at once [default: 256]
  TETRION_OPENENV_IDLE_TIMEOUT  seconds until the environment of a silent client is closed [default: 600]
  TETRION_OPENENV_ALLOW_HOST    more host names that requests may use, separated by commas, * for any
                                [default: this machine's; any if --host is not this machine]
  TETRION_OPENENV_ALLOW_ORIGIN  more origins of pages that may call, such as https://example.org, separated by
                                commas, * for any [default: pages of this machine and of the server itself]
  TETRION_SERVER                the Tetrion server to play on, HOST:PORT [default: in this process]
"""


def make_app(
    max_environments: int, idle_timeout: float, allow_hosts: Sequence[str] = (), allow_origins: Sequence[str] = ()
) -> FastAPI:
    """An app that holds so many environments at once, and closes those whose client is silent for so many seconds."""
    app: FastAPI = create_app(
        TetrionEnvironment,
        TetrionAction,
        TetrionObservation,
        env_name="tetrion",
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=max_environments, session_timeout=idle_timeout),
        state_cls=TetrionState,
    )
    app.add_exception_handler(ValueError, _wrong_field)
    app.add_exception_handler(tetrion.TetrionError, _failed_call)
    app.add_middleware(Bounds, idle_timeout=idle_timeout)
    app.add_middleware(Origins, allowed=allow_origins)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOCAL_HOSTS, *allow_hosts], www_redirect=False)
    return app


async def _wrong_field(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 422)


async def _failed_call(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, tetrion.TetrionError)
    return JSONResponse({"detail": sentence(error)}, 503)


def _number(name: str, default: int, most: int) -> int:
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
        sys.exit(f"tetrion-openenv: {name} is {reprlib.repr(text)}, expected an integer from 1 to {most}")
    return int(text)


def _names(name: str) -> list[str]:
    return [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]


def configured(host: str = "127.0.0.1") -> FastAPI:
    """The app that the environment variables describe, for a server at a host."""
    return make_app(
        _number("TETRION_OPENENV_ENVIRONMENTS", 256, 10_000),
        _number("TETRION_OPENENV_IDLE_TIMEOUT", 600, 86_400),
        _names("TETRION_OPENENV_ALLOW_HOST") or ([] if is_loopback(host) else ["*"]),
        _names("TETRION_OPENENV_ALLOW_ORIGIN"),
    )


app = configured()


def main() -> None:
    """Serves the app."""
    parser = argparse.ArgumentParser(
        prog="tetrion-openenv",
        description="Serves Tetrion as an OpenEnv environment.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    uvicorn.run(configured(arguments.host), host=arguments.host, port=arguments.port, ws_max_size=MAX_BYTES)


if __name__ == "__main__":
    main()
