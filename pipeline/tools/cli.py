"""`residency`: the command line. A command is a module of this package with `add_arguments` and `main`."""

from __future__ import annotations

import argparse
import importlib
import sys

from ..options import OptionError

COMMANDS = {
    "demo": "train a small transformer plainly and under a device budget, and compare",
    "doctor": "say what is installed and what is missing",
}


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="residency", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    chosen = next((a for a in argv if a in COMMANDS), None)
    for name, help_ in COMMANDS.items():
        command = commands.add_parser(name, help=help_, description=help_)
        if name == chosen:  # importing a command may cost seconds (torch): only the one asked for
            importlib.import_module(f".{name}", __package__).add_arguments(command)
    arguments = parser.parse_args(argv)
    try:
        return importlib.import_module(f".{arguments.command}", __package__).main(arguments)
    except OptionError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
