"""The server: OpenEnv's app around `TetrionEnvironment`.

`uvicorn tetrion_openenv.app:app` or `tetrion-openenv` starts it.
"""

import argparse
import os

import uvicorn
from fastapi import FastAPI
from openenv.core.env_server.http_server import create_app

from tetrion_openenv.environment import TetrionEnvironment
from tetrion_openenv.models import TetrionAction, TetrionObservation, TetrionState


def make_app(max_environments: int) -> FastAPI:
    """An app that holds so many environments at once and refuses more."""
    app: FastAPI = create_app(
        TetrionEnvironment,
        TetrionAction,
        TetrionObservation,
        env_name="tetrion",
        max_concurrent_envs=max_environments,
        state_cls=TetrionState,
    )
    return app


app = make_app(int(os.environ.get("TETRION_OPENENV_ENVIRONMENTS", "256")))


def main() -> None:
    """Serves the app."""
    parser = argparse.ArgumentParser(prog="tetrion-openenv", description="Serves Tetrion as an OpenEnv environment.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
