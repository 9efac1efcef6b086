"""Where does Streamlit begin? Started with ``streamlit run dashboard``."""

from dashboard.ui_app import run

run()
