"""The forms of the protocol: requests, replies, errors, names, page tokens."""
