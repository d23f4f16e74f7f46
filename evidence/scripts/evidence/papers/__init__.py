"""Simulations whose numbers other papers print: a file of settings each."""
