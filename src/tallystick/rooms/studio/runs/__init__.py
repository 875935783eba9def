"""Pipeline runs: recipes that gather with tools, let agents interpret, and are done when their checks pass.

    recipe.py          the records of a recipe
    recipe_reader.py   reads a recipe from JSON, or reports what is wrong with it and where
    references.py      `$ref`, `$input`, templates and conditions over the values of a run
    catalogue.py       the bundled recipes and the project's own
    states.py          the states of runs and steps, in two tables
    folder.py          `run.json`, `steps.jsonl` and `cache.json` of one run
    done.py            the definition of done
    service.py         start, show, cancel and resume runs

The flow itself is `flows/pipeline.py`.
"""
