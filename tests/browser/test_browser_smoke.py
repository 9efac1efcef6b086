"""The dashboard starts, answers, and shows its first page."""

import socket

import psutil
import pytest
from live_dashboard import exceptions, open_page, screenshot

pytestmark = pytest.mark.browser


def test_the_server_answers_health(dashboard):
    assert dashboard.healthy()


def test_nothing_listens_on_the_network(dashboard):
    addresses = {
        connection.laddr.ip
        for connection in psutil.Process(dashboard.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert addresses == {"127.0.0.1"}


def test_the_server_sends_no_usage_statistics(dashboard):
    assert "usage statistics" not in dashboard.output


def test_the_start_page_of_an_empty_store_loads_without_an_exception(dashboard, page):
    open_page(page, dashboard.url)
    screenshot(page, "start-empty")
    assert (exceptions(page), page.said) == ([], [])


def test_a_dashboard_ends_when_it_is_interrupted(start_dashboard):
    server = start_dashboard()
    assert server.stop() == 0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", server.port))
