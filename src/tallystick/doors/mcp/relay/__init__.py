"""The relay: somebody else's MCP server behind the gate.

    names      what a server and its tools are called here
    effects    what a tool may do, from what it says and how it is named
    starting   the policy that is written when a server is first met
    pins       what each tool said it was when it was accepted
    wrapped    what a configuration means where a server was wrapped
    results    the schema of a result, from the schema of its structured part
    process    a server that is started here and spoken to over stdio
    web        a server that is spoken to over HTTP; `events` reads the streams it answers with

The door in front (`doors/mcp`) passes the messages on; what must be remembered and decided about a server is here.
"""
