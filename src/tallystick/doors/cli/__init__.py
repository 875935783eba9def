"""The door for people: the command `tally`.

    app        the one Typer app, and the border where errors become a line and an exit code
    command    how a function becomes a command; the options that all commands share
    exits      what the exit codes mean
    screen     what is said and where: results on stdout, the rest on stderr, never a raw control character
    workspace  which folder is meant, and how it is opened
    person     who may answer: a terminal, or the server's start-up token

The other modules hold the commands. `tally --help` must come at once, so nothing heavy is imported at the top of a
module here: a command loads what it needs when it runs.
"""
