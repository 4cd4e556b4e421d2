"""Adapters for serving engines, none of which is needed to import this.

A module an engine: :mod:`vllm_v1`, :mod:`vllm_v2`, :mod:`sglang`. Each is loaded by its engine and
holds what its interface wants and nothing else; what they share is in :mod:`deployments` (which
keys and profiles a server may mark with) and :mod:`marker` (the rows). serving.md says how
to run them.
"""
