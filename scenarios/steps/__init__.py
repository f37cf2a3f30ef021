"""Steps over namespaces, tables and views: the request, its condition and its effect."""
