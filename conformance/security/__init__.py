"""Checks of credentials, tokens and principals without a right."""
