"""The conformance kit for ChatKit stores, ours or anybody's. See docs/chatkit.md."""

from __future__ import annotations

from rireki.chatkit.conformance.kit import (
    PROPERTIES,
    CheckOutcome,
    FactoryNotImportable,
    StoreConformance,
    StoreFailed,
    check_store,
    run_store_conformance,
)

__all__ = [
    "PROPERTIES",
    "FactoryNotImportable",
    "CheckOutcome",
    "StoreConformance",
    "StoreFailed",
    "check_store",
    "run_store_conformance",
]
