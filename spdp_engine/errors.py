"""Errors that a person reads.

Every error raised on purpose in this package is a `ParallaxError` whose text is one complete sentence (or two) that says
what is wrong, where, and what to do. The command line prints it and exits with status 2; the pages show it as it is.
"""

from __future__ import annotations


class ParallaxError(Exception):
    """Base of all errors whose message is meant for the person at the screen."""


class InputError(ParallaxError):
    """A file, a table, a column or a text cannot be used."""


class SettingsError(ParallaxError):
    """A setting is out of range, or two settings contradict each other."""


class DeviceError(ParallaxError):
    """No OpenCL device, a kernel that does not build, or too little memory."""
