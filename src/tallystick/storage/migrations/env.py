"""What Alembic runs to begin: the connection comes from `upgrade`, and with it the transaction."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
    # SQLite can undo changes of tables too; Alembic does not assume it.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
