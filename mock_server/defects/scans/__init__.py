"""Ways in which servers plan scans wrongly."""
