"""Several stored runs side by side: catalogs compared, and one catalog over time."""
