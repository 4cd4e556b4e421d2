"""A detector that others may ask: what ``pura serve`` runs (serving-a-detector.md).

Nothing here is imported before it is asked for: FastAPI and uvicorn are an extra.
"""
