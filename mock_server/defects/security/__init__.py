"""Ways in which credentials are judged or given wrongly."""
