"""From a text to its record. Begin with :mod:`pura.detect.steps`.

``steps`` holds the twelve steps one under the other, ``together`` runs them over many texts in one
pass of the model. Below: ``restore`` undoes what was done to a text, ``local`` weighs single
tokens, ``decode`` finds payloads, marks and passages, ``verdict`` decides and puts into words.
"""
