"""The program `enhg`, as ``python -m enhg``."""

from enhg.cli import main

if __name__ == "__main__":
    main()
