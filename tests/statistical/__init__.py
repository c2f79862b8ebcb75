"""Tests of the samplers' distributions. Each states how often it would fail a right sampler."""
