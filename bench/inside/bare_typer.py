"""A Typer application with seven empty commands: a lower bound for start-up time."""

import typer

app = typer.Typer(no_args_is_help=True)


@app.command()
def one() -> None:
    """Do nothing."""


@app.command()
def two() -> None:
    """Do nothing."""


@app.command()
def three() -> None:
    """Do nothing."""


@app.command()
def four() -> None:
    """Do nothing."""


@app.command()
def five() -> None:
    """Do nothing."""


@app.command()
def six() -> None:
    """Do nothing."""


@app.command()
def seven() -> None:
    """Do nothing."""


if __name__ == "__main__":
    app()
