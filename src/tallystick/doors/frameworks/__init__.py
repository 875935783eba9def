"""The gate under other people's agent loops: their tools are ours, every call is a proposal.

    openai_agents      OpenAI Agents SDK        pip install 'tallystick[agents]'
    langgraph          LangGraph, LangChain     pip install 'tallystick[langgraph]'
    openai_functions   plain OpenAI function calling; needs nothing besides

Each turns `Governed`, the gate's tools for one agent, into what its framework calls a tool.
"""
