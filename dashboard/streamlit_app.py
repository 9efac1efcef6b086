"""Where does Streamlit begin? Started with ``streamlit run dashboard``."""

import streamlit as st

from dashboard.ui_server import layers, while_it_runs

app = st.App("ui_script.py", middleware=layers(), lifespan=while_it_runs)
