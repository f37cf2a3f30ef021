"""Defects of credentials: wrongly judged or wrongly given."""
