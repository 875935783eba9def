"""Metrics, tracing and logs. It observes calls through the gate's `Observer` port and never influences them.

    observer       Telemetry: the single object that the pipeline calls
    metrics        counters and histograms, with the names that existing dashboards use, and their snapshot
    exposition     the metrics as Prometheus text
    rejections     rejections by bucket per session, agent and conference, stored in the control room
    stored_counts  reads the stored counts back for display
    tracing        one span per call, with counts and identifiers of arguments and result; off by default
    logs           one line per event on stderr, with secrets masked

No text written by a model, a user or a tool gets into any of these.
"""
