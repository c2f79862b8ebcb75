"""Parallax's engine: how groups of people talk about the same topics differently.

The walk, one way: files become `Documents`, documents a `Corpus` (corpus/); a model (models/) and a corpus make a state on a
device, which a schedule advances (sampling/); a consistent copy of it, a sample, becomes `Topics` (topics/), measured
by pure functions (measures/). `jobs` runs a sampler in a background thread, `results` writes what is taken away.
"""
