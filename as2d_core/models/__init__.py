"""Model folders: what is in them, whether they run here, and the bundled demo pair."""
