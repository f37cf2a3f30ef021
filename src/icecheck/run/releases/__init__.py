"""The releases that a run holds to: which are meant, what they demand, and what others say."""
