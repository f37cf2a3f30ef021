"""Metadata of tables and views: its values, its rules, drafts of the next, and its JSON."""
