"""What a model outside our own turns is shown: names it may say, refusals it can act on, holds it may wait for."""
