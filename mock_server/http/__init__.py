"""The server as it listens on a socket."""
