"""The register of issued payloads."""
