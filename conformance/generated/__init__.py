"""Checks of requests that are generated from the contract's schemas."""
