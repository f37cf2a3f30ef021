"""What comes in and what goes out: requests, replies, errors, names, page tokens."""
