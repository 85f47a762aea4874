"""`python -m kebab_stream` and the script `kebab`."""

from kebab_stream.cli.main import main

if __name__ == "__main__":
    main()
