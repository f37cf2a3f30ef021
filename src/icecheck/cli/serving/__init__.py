"""What `icecheck serve` does besides serving: it tells of requests, and runs a command."""
