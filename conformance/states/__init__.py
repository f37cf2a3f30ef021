"""Checks that lead a table or a view through states and look at everything in each."""
