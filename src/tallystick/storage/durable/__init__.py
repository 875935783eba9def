"""The durable port implemented with DBOS, on SQLite in the control room or on Postgres by URL, with the same code.

    stored.py         the port itself; light, it imports the engine on first use
    flow_registry.py  registered flows, queues and schedules; intervals of the worker
    database.py       the SQLAlchemy engine, and table creation that is safe for concurrent starts
    runs.py           start, status, cancel, resume: needs no running worker in this process
    records.py        converts the engine's rows to our records
    stored_values.py  values as stored: JSON and failures; pickled rows, which could run code, are refused
    worker_table.py   the workers' rows: heartbeat, and takeover under a lock
    flows.py          the run object given to a flow: steps, sleep, events
    executor.py       the single DBOS instance of this process, under the worker's own id
    worker.py         lifecycle of a worker, from join to shutdown

DBOS recovers only runs of its own executor id, and only at start. So every worker has its own id and a row with a
heartbeat counter; a worker that sees a stalled row takes over the runs of that id. A worker wrongly taken for dead does
no harm: DBOS lets only the newest owner of a run record anything, and steps carry a key because they may run twice.
"""
