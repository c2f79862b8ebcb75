"""Pieces of page that several pages share."""
