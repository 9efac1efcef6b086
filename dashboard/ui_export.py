"""How does a table of a page leave it? As CSV, Parquet or JSON, with the filters it was made with inside."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.views.files import arrow_table
from datastore.export import TABLE_FORMATS, table_file

LABELS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON"}


def table(
    frame: pd.DataFrame | Callable[[], pd.DataFrame],
    name: str,
    about: Mapping[str, Any],
    send: Callable[[], None] | None = None,
) -> None:
    """Offer what is shown as files, and beside them what takes it into a notebook.

    Args:
        frame: the rows, or what makes them when a file is asked for.
        name: of the file, without its suffix.
        about: what was chosen on the page; it is written into the file.
        send: draws the button that takes it into a notebook.
    """

    def data(kind: str) -> bytes:
        rows = frame() if callable(frame) else frame
        return table_file(arrow_table(rows), name, about, kind).data

    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            for kind, (mime, _) in TABLE_FORMATS.items():
                st.download_button(
                    LABELS[kind],
                    lambda kind=kind: data(kind),
                    f"as2d-{name}.{kind}",
                    mime,
                    icon=":material/download:",
                    key=f"export-{name}-{kind}",
                    help="What is shown, with the filters inside.",
                )
        if send is not None:
            send()
