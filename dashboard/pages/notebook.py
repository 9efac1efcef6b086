import streamlit as st

from dashboard import ui, ui_notebook

workspace = ui.open_page("notebook", "Notebook", "Text, questions to the store and figures, kept as they are written.")
notebook = ui_notebook.choose(workspace)
ui_notebook.head(workspace, notebook)

room = ui_notebook.expect_cell(notebook)
for number, cell in enumerate(notebook.cells, 1):
    with st.container(border=True, key=f"cell-{cell.id}"):
        ui_notebook.cell(workspace, notebook, cell, number, room)
if not notebook.cells:
    ui.box("empty", "This notebook has no cells yet.", "Add one below, or send a figure here from any other page.")
ui_notebook.add_buttons(workspace, notebook)
