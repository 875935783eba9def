"""Alembic environment script: connection and transaction come from `upgrade`."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
    # SQLite supports transactional DDL; Alembic assumes it does not.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
