"""The tables' versions, as Alembic migrations.

Each file in `versions/` is one step. `HEAD` names the last one, so that a start on an up-to-date database asks one
question and does not load Alembic at all.
"""

from pathlib import Path

from sqlalchemy.engine import Connection

from tallystick.errors import ConfigError

HEAD = "0009"
VERSION_TABLE = "tally_schema_version"


def upgrade(connection: Connection) -> None:
    """Run what is missing, in the caller's transaction: all of it or nothing.

    Raises:
        ConfigError: The database stands at a version this code does not know.
    """
    # Loaded only here: it costs more time than a whole call, and most starts do not need it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        message = "The database was written by a newer version of tallystick. Upgrade the package on this machine."
        raise ConfigError(message, code="database_newer") from error
