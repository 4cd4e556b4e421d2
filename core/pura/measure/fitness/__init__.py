"""How good a proxy a model is: samples, measurement, statistics, words."""
