"""Recorded tokens and a device's costs give the time of every method, drafter and budget (Appendix D.3, D.4.3)."""
