"""The gateway: many MCP servers behind one gate.

    servers    the servers and views of a gateway, from its `servers.json`
    backend    one server: its connection, its handshake and its pending requests
    lists      merges the lists of all servers and prefixes names with the server's name
    router     presents all servers as one, in every revision of the protocol
    http       serves the gateway over streamable HTTP
    run        starts a gateway over stdio or HTTP
    moves      moves servers between a client's config and the gateway

The router implements the upstream interface, so the relay in front of it checks, pins and records as for one server.
"""
