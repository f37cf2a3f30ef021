"""What a catalog knows, and what an operation gets and gives back."""
