"""Tests of the samplers' distributions: exact ones against enumerated posteriors, all against what must hold of any.

False alarms. A test that compares random draws with what they should be fails a right sampler now and then. Each says in its
docstring how often, and in the marker `false_alarms`; the rates add up: whatever the tests have to do with one another, at
least one of them fails a right sampler with at most the sum of the rates, which is `FALSE_ALARMS`, below 1 %, and is summed
in `test_false_alarms`:

    test_exact_posterior                18 comparisons of SPDP, 12 with transformation matrices, 25 and 4 of LDA: 59 times 1e-4
    test_repeats                        6 comparisons of SPDP and 4 of LDA: 10 times 1e-4
    test_geweke                         9 times 1e-4
    test_hyperparameters                4 times 1e-4
    test_learning                       2 times 1e-4
    test_calibration                    2 times 1e-4
    test_recovery                       2 times 1e-4
    test_recovery_of_hyperparameters    4 times 1e-4
    test_evidence                       6 times 1e-4
    test_enumeration                    1e-4, and 4 times 1e-5

A comparison fails at a p-value below `exact.LEVEL`, 1e-4; a test that makes several divides the level among them (Bonferroni).
Seeds are fixed, so that on one device this was decided once, when the test was written: it fails again only after a change
to the sampler or on a device that rounds otherwise, and then with the stated rate. P-values of Pearson's test are
right to the extent that draws are independent and expected counts large, so chains are thinned and rare states taken
together. Companions, in which a sampler is wrong on purpose, add nothing to the sum: if they fail, a test lacks power.
"""

FALSE_ALARMS = (59 + 10 + 9 + 4 + 2 + 2 + 2 + 4 + 6 + 1) * 1e-4 + 4 * 1e-5
"""How often at least one of the tests fails a right sampler, at most."""
