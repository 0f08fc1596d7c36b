"""What the command lines of several subcommands share: the Typer app, and options of one meaning.

An option is here if its name, its text and its checks are the same for every subcommand that has
it; its default stands with the subcommand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

KubeContext = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Context of the kubeconfig.  [default: its current]"),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", file_okay=False, help="Data folder of the embedded server."),
]
LONGEST_TIME = 604_800
"""Maximum of an option in seconds: a week."""
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0: any free one.")]
LogLevel = Annotated[str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")]


def new_app() -> typer.Typer:
    """An app with plain help, without completion, and with Python's own tracebacks."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def run_app(
    app: typer.Typer, command: str, arguments: Sequence[str], env_prefix: str | None = None
) -> int:
    """Run the app of `fluxnetes COMMAND`. Returns the exit status.

    With a prefix, every option can be set in the environment too: --port by PREFIX_PORT.
    """
    try:
        app(list(arguments), prog_name=f"fluxnetes {command}", auto_envvar_prefix=env_prefix)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
