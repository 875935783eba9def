"""The relay: puts the gate in front of a third-party MCP server.

    names           ids of servers and their tools
    effects         the effect of a tool, from its annotations and its name
    default_policy  the policy that is written on the first connection to a server
    pins            the accepted definition of each tool
    workspace       how settings apply in a workspace with a wrapped server
    schemas         the schema of a whole result, from the schema of its structured content
    process         a server that the relay starts and connects to over stdio
    http            a server reached over HTTP; `sse` parses its event streams

`relay` forwards the messages; `gate_side` decides about calls and keeps what must be remembered about a server.
"""
