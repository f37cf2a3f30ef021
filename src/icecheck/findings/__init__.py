"""What was found out, as data: verdicts, symptoms, causes and their summary."""
