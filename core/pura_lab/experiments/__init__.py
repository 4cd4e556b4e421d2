"""Experiments: tables of cells and what is measured of a text in each (lab.md)."""
