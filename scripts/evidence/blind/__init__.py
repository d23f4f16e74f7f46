"""The blind sets: their authors had not seen how the interval that the cells judge is computed."""
