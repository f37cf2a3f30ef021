"""Every request that schemathesis derives from the contract, against the mock."""
