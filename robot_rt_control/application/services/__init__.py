"""Services: external systems move robots through them (docs/services.md)."""
