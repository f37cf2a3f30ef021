"""The administration of a running mock over HTTP, below `/_mock/`: the Python API for others."""
