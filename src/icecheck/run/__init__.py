"""A whole run: collects checks, runs them in several workers, concludes and writes reports."""
