"""A check called and its ending turned into a verdict; verdicts that no check asks for."""
