"""Checks of credentials, tokens and principals without permission."""
