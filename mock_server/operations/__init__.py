"""The operations of the protocol, one function each, pure: a state in, an outcome out."""
