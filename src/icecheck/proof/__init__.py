"""Proves checks by defects: runs them on a mock with a defect, and records which of them fail."""
