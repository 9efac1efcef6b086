"""What a page shows: pure functions from records to facts, and from facts to figures or safe HTML."""
