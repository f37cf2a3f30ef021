"""The commands of `icecheck`, a module each."""
