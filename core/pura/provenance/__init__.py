"""The other layer of a marked text: signed C2PA manifests that name the same issue as its mark.

Read :mod:`pura.provenance.binding` first: the value by which mark and manifest name each other.
"""
