"""What one device charges for every operation: cost profiles, published and measured."""

from as2d_core.profiles.catalogue import load_profile, profile_ids, read_profile, write_profile
from as2d_core.profiles.profile import Profile, Provenance, Spread, Stability

__all__ = [
    "Profile",
    "Provenance",
    "Spread",
    "Stability",
    "load_profile",
    "profile_ids",
    "read_profile",
    "write_profile",
]
