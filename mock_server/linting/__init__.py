"""What clients sent that the specification forbids."""
