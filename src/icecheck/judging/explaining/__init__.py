"""Explains a failed check by an effect that it relied on and the catalog never keeps."""
