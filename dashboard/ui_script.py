"""What does Streamlit run for every visitor, again and again? The app."""

from dashboard.ui_app import run

run()
