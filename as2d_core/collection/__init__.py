"""Trajectories from real models: observed on a device, one window a request, put together on the host."""
