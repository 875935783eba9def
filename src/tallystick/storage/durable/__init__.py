"""The durable port bound to DBOS, on SQLite in the control room or on Postgres by URL, with the same code.

    stored.py     the port itself; light, it loads the engine when something is asked of it
    book.py       which flows, queues and schedules there are
    database.py   the SQLAlchemy engine, and tables made once however many processes begin
    runs.py       start, status, cancel, resume: needs no running worker in this process
    records.py    the engine's rows as our records; plain.py: values as they are stored
    nopickle.py   the engine's way to run code from a row, closed
    roster.py     the workers' rows: heartbeat, and taking over under a lock
    watch.py      who has stopped beating, by this process's own clock
    flows.py      what a flow is given: steps, sleep, events
    executor.py   the one DBOS of this process, under the worker's own id
    worker.py     a worker from joining to leaving

DBOS recovers only its own executor id, and only when it starts. So every worker has its own id and a row that it
counts up; whoever sees a row stand still takes that id's runs over. A worker that only seemed dead does no harm:
DBOS lets just the newest owner of a run record anything, and steps carry a key because they may be done twice.
"""
