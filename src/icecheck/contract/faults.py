"""The error for what the people of this project, and not a user or a catalog, have to mend."""


class ContractError(Exception):
    """Rows of the contract are wrong, or a check does not fit them; each line is one fault."""
