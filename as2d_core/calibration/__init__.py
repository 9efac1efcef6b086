"""What does each operation cost on this device? Measured calls, fitted to a profile (B.2, D.2)."""
