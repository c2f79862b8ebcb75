"""How the model is computed: devices, kernels, schedules, and the stepped sampler.

sampler = Sampler(corpus, SamplerSettings(topics=20, seed=1))
sampler.run(200, callback=print)
sample = sampler.inspect()
"""

from spdp_engine.sampling.devices import Device, choose_device, list_devices
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, memory_for, warm_up
from spdp_engine.sampling.schedules import SCHEDULES

__all__ = [
    "SCHEDULES",
    "Device",
    "Sampler",
    "SamplerSettings",
    "choose_device",
    "list_devices",
    "memory_for",
    "warm_up",
]
