"""What is counted, traced and logged. It watches through the gate's `Observer` port and never steers.

    observer     Telemetry: the one object the pipeline calls
    metrics      counts and times, by the names older dashboards know
    readings     what has been counted, as values
    exposition   the same as Prometheus text
    rejections   refusals by bucket per session, agent and conference, kept in the control room
    tracing      one span per call; off unless asked for
    summaries    what a span may say of arguments and results: counts and identifiers
    logs         one line per event on stderr, secrets masked

No text that a model, a user or a tool wrote reaches any of these.
"""
