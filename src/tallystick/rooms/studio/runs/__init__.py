"""Pipeline runs: recipes that gather with tools, let agents interpret, and are done when their checks say so.

    recipe.py       what a recipe is
    reading.py      from JSON to a recipe, or what is wrong with it and where
    references.py   `$ref`, `$input`, templates and conditions over what a run has so far
    catalogue.py    the bundled recipes and the project's own
    states.py       what a run and a step may become, in two tables
    folder.py       `run.json`, `steps.jsonl` and `cache.json` of one run
    done.py         the definition of done
    desk.py         runs seen from outside: start, look, cancel, resume

The work itself is in `flows/pipeline.py`.
"""
