"""Real clients that reach a mock catalog, with a socket or without one."""
