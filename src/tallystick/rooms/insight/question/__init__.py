"""From words to a typed query, and from its numbers to an answer.

grammar.json   the closed list of words that the parser knows beside those of the dataset
vocabulary     the words of one dataset: its columns and values
periods        dates, months, weeks and quarters in a question
scan           a question → the items it is made of; a word that is none of them is not read
conditions     which tickets are meant, by values, times, numbers and words
sides          the two sides of a comparison
interpretation items → a typed query
reader         all of it: a question → a typed query, or why it was not read
"""
