"""Scan planning: which files a scan has to read, found in the table's own manifests."""
