"""Developer tools: they make files of the package, and are not installed with it."""
