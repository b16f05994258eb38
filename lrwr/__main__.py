"""`python -m lrwr` is the same as `lrwr`."""

from lrwr.cli.main import run

if __name__ == "__main__":
    run()
