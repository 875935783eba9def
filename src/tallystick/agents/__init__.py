"""Agents, their endpoints, tiers and credits; services for chats, tasks and administration. All I/O is behind ports."""
