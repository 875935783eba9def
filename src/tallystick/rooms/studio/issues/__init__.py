"""Issues, the agents' memory of them, and the circuit breaker that stops agents from talking in circles."""
