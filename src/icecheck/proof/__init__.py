"""Checks proven by defects: the mock with a defect, and which checks fail on it."""
