"""The whole app without a browser, over a store of its own, with a device that needs no models."""

import pytest
from page_samples import PageApp, put


@pytest.fixture
def keep(workspace, tmp_path):
    """Takes runs into the store: ``keep("a", method="sd")``."""

    def take(run_id, **how):
        put(workspace.store, tmp_path, run_id, **how)

    return take


@pytest.fixture
def open_page(data_folder):
    """Opens a page of the app in a certain state, as a link does: ``open_page("runs", text="x")``."""

    def open_(name, **state):
        app = PageApp(name, state)
        app.run()
        return app

    return open_
