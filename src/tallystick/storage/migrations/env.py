"""What Alembic runs to begin: the connection comes from `upgrade`, and with it the transaction."""

from alembic import context

from tallystick.storage.migrations import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    # SQLite can undo changes of tables too; Alembic does not assume it.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
