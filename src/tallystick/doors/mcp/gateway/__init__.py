"""The gateway: many MCP servers behind one gate.

    servers    the servers and views of a gateway, from its `servers.json`
    backend    one server: its connection, its handshake and its pending requests
    lists      merges the lists of all servers, under names with the server's prefix
    router     presents all servers as one, in every revision of the protocol

The router is an upstream like any other, so the relay in front of it checks, pins and records as for one server.
"""
