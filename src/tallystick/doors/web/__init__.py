"""The web page: a control room in the browser, in the same application as the HTTP API.

context.py    what every page receives: the gate, and the visitor
mounting.py   mounts the pages next to the API's routes
frame.py      the frame around every page: navigation, notifications, light and dark mode
login.py      the login form
kit.py        the API for rooms
feeds/        long lists, loaded in windows
parts/        shared components: badges, receipts, evidence, forms built from a tool's schema, empty states
pages/        one module per page, each with `register(context)`
"""
