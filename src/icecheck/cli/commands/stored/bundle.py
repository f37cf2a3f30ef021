"""``icecheck bundle DIR``: pack a run's report and its exchanges into one file."""

from pathlib import Path
from typing import Any

import click

_FILE = "bundle.zip"


@click.command("bundle", short_help="Pack a run into one file that anybody can verify.")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Where the bundle is written; default: {_FILE} in DIR.",
)
@click.option("--organization", default="", metavar="NAME", help="Who makes the product.")
@click.option("--product", default="", metavar="NAME", help="What the run has verified.")
@click.option("--product-version", default="", metavar="VERSION", help="Which version of it.")
@click.option("--contact", default="", metavar="ADDRESS", help="Who answers questions about it.")
def command(directory: Path, output: Path | None, **told: Any) -> int:
    """Pack the report of the run in DIR: run.json, its exchanges, and a manifest with their hashes.

    Equal reports give equal bytes. `icecheck verify` derives every verdict of a bundle again.
    """
    from icecheck.bundles.bundle import Product
    from icecheck.bundles.packing import pack

    product = Product(
        told["organization"], told["product"], told["product_version"], told["contact"]
    )
    written = output or directory / _FILE
    pack(directory, written, product)
    click.echo(f"bundle: {written}")
    return 0
