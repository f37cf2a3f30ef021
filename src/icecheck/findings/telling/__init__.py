"""What is told of findings: their subjects, titles and consequences, cards and table cells."""
