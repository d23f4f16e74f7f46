"""``python -m calbias`` is the command."""

from calbias.command import main

if __name__ == "__main__":
    main()
