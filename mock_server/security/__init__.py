"""Who calls, what they may do, and which credentials for storage they get."""
