"""Reports whose every number can be recomputed.

blocks, frame                   what a report is made of; each number is noted with its query
theme_sections, field_sections  the sections, from the figures of one dataset
report                          all of it together
markdown, html                  the two forms, each with a machine-readable appendix
recheck, marks                  recompute every number, and find it in the text
chart_data                      the figures behind charts, for pages
"""
