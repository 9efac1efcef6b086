from dashboard import ui, ui_published

workspace = ui.open_page(
    "published", "Published", "What does the paper say, what comes out here, and why do they differ?"
)
with ui.guarded():
    shown = ui_published.part()
    if shown == ui_published.LEDGER:
        ui_published.ledger(workspace)
    elif shown == ui_published.OVERVIEW:
        ui_published.overview(workspace)
    else:
        ui_published.table(workspace, shown)
