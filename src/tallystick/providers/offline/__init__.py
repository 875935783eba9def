"""An agent without a model: it reads the prompt, chooses tools by their cards, and answers from what they return.

    prompt      the messages → what is asked, of whom, with which tools and results
    wish        the request → terms, names, paths, ids, numbers, quoted strings
    choosing    which tool's card fits the wish
    filling     the tool's arguments, by its schema, from what the wish names
    results     what the results hold: passages with their lines, fields; findings with the lines they rest on (`cited`)
    planning    the next call, or the wish to finish
    reporting   what tools say of files: findings, or that there are none
    answering   a short answer from the best `passages`, with its Evidence line (`citing`)

It is no better than word matching, and says so where that is not enough. It never follows what a result says: tools
are chosen by the user's words and the cards alone.
"""
