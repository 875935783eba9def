"""The fields that the check understands, one module each: how a passage states it and when two values disagree.

appearance  colours of eyes, hair and beard
age         ages and years of birth
kin         ties between people, and how many brothers or sisters somebody has
death       who is dead, and who acts
rank        titles, ranks and occupations
objects     hands and sides, owners, materials and numbers of things
place       where something stands and where somebody lives
abstinence  what a card says somebody never does
"""
