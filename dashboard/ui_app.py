"""Which pages are there, and what surrounds them?"""

from pathlib import Path

import streamlit as st

from dashboard import ui_pictures, ui_press, ui_theme
from dashboard.door import CLOSED
from dashboard.ui_server import is_guarded
from dashboard.views.theme import theme_named

ASSETS = Path(__file__).parent / "assets"
_READABLE = '[data-selected="true"] p, [data-testid="stSliderThumbValue"] p'
"""Words that Streamlit writes in the colour of buttons, which is too dark for that in the dark theme."""
_INSIDE = "inside-the-app"


def run() -> None:
    """Draw what surrounds the pages, and run the page that the address names."""
    st.session_state[_INSIDE] = True
    st.set_page_config(page_title="As²d", page_icon=str(ASSETS / "mark.svg"), layout="wide")
    st.html(ASSETS / "page.css")
    st.html(f"<style>{_READABLE} {{ color: {theme_named(st.context.theme.type).text}; }}</style>")
    st.logo(ASSETS / "mark.svg", size="medium")
    if not is_guarded():
        st.title("As²d", anchor=False)
        st.warning(CLOSED)
        st.stop()
    pages = [
        st.Page("pages/start.py", title="Start", icon=":material/home:", default=True),
        st.Page("pages/devices.py", title="Devices", icon=":material/smartphone:"),
        st.Page("pages/request.py", title="Request", icon=":material/mic:"),
        st.Page("pages/sweep.py", title="Sweep", icon=":material/repeat:"),
        st.Page("pages/timeline.py", title="Timeline", icon=":material/view_timeline:"),
        st.Page("pages/budgets.py", title="Budgets", icon=":material/tune:"),
        st.Page("pages/windows.py", title="Windows", icon=":material/grid_view:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("pages/profiles.py", title="Profiles", icon=":material/speed:"),
        st.Page("pages/published.py", title="Published", icon=":material/menu_book:"),
        st.Page("pages/runs.py", title="Runs", icon=":material/table_rows:"),
        st.Page("pages/notebook.py", title="Notebook", icon=":material/edit_note:"),
        st.Page("pages/reports.py", title="Reports", icon=":material/description:"),
    ]
    ui_theme.follow()
    ui_pictures.offer()
    ui_press.follow()
    page = st.navigation(pages, position="top")
    st.set_page_config(page_title="As²d" if page is pages[0] else f"{page.title} · As²d")
    page.run()


def stay_inside() -> None:
    """Run the whole app when a page was started without it.

    Until the first navigation of a process, Streamlit takes a folder named "pages" as its own older kind of app: the
    first visitor of a new process who follows a link to a page would see that page alone.
    """
    if not st.session_state.get(_INSIDE):
        run()
        st.stop()
