"""Developer tool: every defect of the mock against every check that is about what it changes."""
