"""What one device charges for every operation: cost profiles, published and measured."""

from as2d_core.profiles.catalogue import load_profile, profile_ids, read_profile, write_profile
from as2d_core.profiles.comparison import ComparedCost, CostRow, compare_profiles, cost_rows
from as2d_core.profiles.profile import Profile, Provenance, Spread, Stability
from as2d_core.profiles.variants import concurrent_scenarios, with_concurrent_ratio

__all__ = [
    "ComparedCost",
    "CostRow",
    "Profile",
    "Provenance",
    "Spread",
    "Stability",
    "compare_profiles",
    "concurrent_scenarios",
    "cost_rows",
    "load_profile",
    "profile_ids",
    "read_profile",
    "with_concurrent_ratio",
    "write_profile",
]
