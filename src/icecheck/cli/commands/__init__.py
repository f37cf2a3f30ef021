"""The commands of `icecheck`, a module each; those of stored runs and of Spark in packages."""
