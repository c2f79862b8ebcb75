"""Measurements behind what the README claims: one command to a claim. See README.md in this folder."""
