"""Tests of the engine: models and sampling."""
