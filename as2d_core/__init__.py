"""Methods, engines, replay and accounting of As²d; knows no phone, no disk layout and no page."""

__version__ = "0.1.0"
