"""Check whether the quoted text supports a claim, by rules that need no model.

`rules.find_doubt` applies these rules in order; the first that fails determines the code:

1. `figures`: every number, unit, date and time of the claim must occur in a quote or its context, or be the sum or the
   difference of quoted numbers;
2. `names`: names and ids must occur in a quote or its context (file name, headings, preceding sentences, arguments);
3. `bindings`: a claim must not take the words of one quoted segment and the value of another;
4. `quantifiers`: quantifiers such as `all`, `only`, `most` and `at least` must agree with the quote;
5. `polarity`: claim and quote must agree in negation, and the claim must not use the opposite of a quoted word;
6. `comparisons`: `more than`, `cheaper of the two`, `rose between` and `twice as much` must agree with the
   quoted numbers;
7. `hedges`: a quote from a condition, a comparison, a question or reported speech supports only a claim that repeats
   this qualification;
8. `coverage`: every clause must share enough words with the quotes.

Other modules check claims about actions (`actions`) and about the structure of files (`layout`). `amounts` and
`readings` parse texts; `grounds` describes what each cited item contains. The word lists of the rules are in
`data/forms.json`.
"""
