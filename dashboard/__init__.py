"""The dashboard: pages show, views draw, services fetch."""
