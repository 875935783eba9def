"""The command line: the command `tally`.

    app        the Typer app, and the place where errors become one line and an exit code
    command    how a function becomes a command; the options that all commands share
    exits      the exit codes
    screen     output: results on stdout, the rest on stderr, never a raw control character
    workspace  which folder is meant, and how it is opened
    person     proof that a person runs the command: a terminal, or the server's start-up token

The other modules contain the commands. `tally --help` must be fast, so no module here imports anything heavy at the
top: a command loads what it needs when it runs.
"""
