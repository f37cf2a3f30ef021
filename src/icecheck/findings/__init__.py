"""The result of a run as data: verdicts, symptoms, causes and their summary."""
