"""What a store knows about the bundled target, so that no runner tests its widths again, which takes seconds."""

from as2d_core.models.demo_catalog import TARGET
from as2d_core.models.folder import describe_model
from as2d_core.operation_records import SelfTest
from as2d_core.runner.device import cpu_name
from dashboard.services.models import mnn_version
from datastore.library import put_self_test, self_test_key


def know_widths(store, widths):
    """Put into the store that these widths are exact here, as a self-test of the target would."""
    extra = {"cpu": cpu_name(), "mnn_version": mnn_version(), "threads": 1, "precision": "high", "memory": "high"}
    test = SelfTest(describe_model(TARGET).sha256, tuple(widths), "bit-equal", extra=extra)
    put_self_test(store, self_test_key(test), test)
