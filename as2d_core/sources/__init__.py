"""What feeds the candidate buffer: producers that never see target state (Section 4.1)."""
