"""`python -m liftbay_demo serve`."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

from aiohttp import web

from liftbay_demo import __version__, places
from liftbay_demo.agent import Agent, Settings
from liftbay_demo.faults.faulty import NAMES
from liftbay_demo.faults.setting import VARIABLE, FaultError, faults_in
from liftbay_demo.server import application
from liftbay_demo.telemetry import switch_on

_HOST = "127.0.0.1"
_GRACE_SECONDS = 1.0  # for turns that are under way


def main(arguments: list[str] | None = None) -> int:
    """Serve the agent until a signal ends it."""
    options = _parser().parse_args(arguments)
    if (options.model_url is None) != (options.model is None):
        sys.stderr.write("--model-url and --model go together\n")
        return 2
    try:
        faults_in(os.environ.get(VARIABLE, ""), NAMES)
    except FaultError as error:
        sys.stderr.write(f"{VARIABLE}: {error}\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="liftbay-demo-", ignore_cleanup_errors=True) as temporary:
        settings = Settings(
            data=options.data or Path(temporary),
            skills=options.skills,
            version=options.version,
            model_url=options.model_url,
            model=options.model,
            window=options.window,
        )
        switch_off = switch_on(settings.version)
        try:
            asyncio.run(_serve(settings, options.port))
        finally:
            switch_off()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m liftbay_demo", description="The product-centre assistant.")
    serve = parser.add_subparsers(required=True, metavar="serve").add_parser("serve", help="serve it over HTTP")
    serve.add_argument("--port", type=int, default=0, help="0 takes a free one (default)")
    serve.add_argument("--data", type=Path, help="folder for sessions and Skills; a temporary one where it is absent")
    serve.add_argument("--skills", type=Path, default=places.SKILLS, help="folder of the Skills to start with")
    serve.add_argument("--version", default=__version__, help="the version that the agent says it has")
    serve.add_argument("--window", type=int, default=Settings._field_defaults["window"], help="turns of history")
    serve.add_argument(
        "--model-url",
        default=os.environ.get("DEMO_MODEL_URL"),
        help="address of an OpenAI-compatible endpoint, up to /v1; default: DEMO_MODEL_URL",
    )
    serve.add_argument(
        "--model",
        default=os.environ.get("DEMO_MODEL"),
        help="name of the model there; default: DEMO_MODEL; its key is in DEMO_MODEL_KEY",
    )
    return parser


async def _serve(settings: Settings, port: int) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    agent = Agent(settings)
    runner = web.AppRunner(application(agent), access_log=None, shutdown_timeout=_GRACE_SECONDS)
    try:
        await runner.setup()
        site = web.TCPSite(runner, _HOST, port)
        await site.start()
        sys.stdout.write(f"listening on http://{_HOST}:{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        starting = asyncio.create_task(agent.start())
        waiting = asyncio.create_task(ended.wait())
        await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting
            await waiting
        else:
            starting.cancel()
            await asyncio.wait([starting])
    finally:
        await runner.cleanup()
        await agent.close()


if __name__ == "__main__":
    sys.exit(main())
