"""How does a Python program get onto a phone without Python? As a folder with a loader and libraries of its own."""
