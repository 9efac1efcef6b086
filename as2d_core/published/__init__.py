"""What the paper printed, whether it follows from itself, and how it compares with replays of ours."""
