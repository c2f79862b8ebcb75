"""How the model is computed: devices, kernels, states, schedules, and the stepped sampler.

sampler = Sampler(corpus, SamplerSettings(topics=20, seed=1))
sampler.run(200, callback=print)
sample = sampler.inspect()
"""

from spdp_engine.sampling.devices import Device, choose_device, list_devices
from spdp_engine.sampling.methods import METHODS, MODELS, Method, Model, method_named, methods_of, model_named
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, memory_for, plain_settings, warm_up
from spdp_engine.sampling.snapshot import Origin, Snapshot, to_go_on

__all__ = [
    "METHODS",
    "MODELS",
    "Device",
    "Method",
    "Model",
    "Origin",
    "Sampler",
    "SamplerSettings",
    "Snapshot",
    "choose_device",
    "list_devices",
    "memory_for",
    "method_named",
    "methods_of",
    "model_named",
    "plain_settings",
    "to_go_on",
    "warm_up",
]
