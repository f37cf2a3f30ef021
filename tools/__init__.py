"""Developer tools: they make the files that the package carries, and are not installed with it."""
