"""The page: a control room in the browser, on the same application as the API.

house.py      what every page is given: the gate, and who is looking
mounting.py   how the pages come to stand beside the API's routes
frame.py      the one frame around every page: navigation, notices, light and dark
login.py      the way in for a person
parts/        what several pages show: badges, receipts, evidence, forms made from a tool's schema, empty states
pages/        one module a page, each with `register(house)`
"""
