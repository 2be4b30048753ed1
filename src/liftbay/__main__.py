"""`python -m liftbay` is the `liftbay` command."""

from liftbay.cli.main import run

if __name__ == "__main__":
    run()
