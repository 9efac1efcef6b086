"""A notebook is an ordered list of cells; a report is a notebook that a template has filled in."""
