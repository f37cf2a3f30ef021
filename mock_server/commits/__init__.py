"""From a request to the next published version of a table or a view."""
