"""Agents, their endpoints, tiers and credits; services for chats, tasks and administration. I/O comes in by ports."""
