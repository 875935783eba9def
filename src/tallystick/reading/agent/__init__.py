"""The agent that comes with the package: it reads the workspace's files and calls its tools without a large model.

intents     what a request asks for, by example requests
names       the files that a request names
arguments   the arguments of a call
library     the files of the workspace, by name and by question
plan        the calls to make and the kind of reply
replies     the reply: quotes that answer, or a full report of what a tool returned
model       all of it as a model of a turn
"""
