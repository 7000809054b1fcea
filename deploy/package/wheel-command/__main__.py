"""python -m rapideye."""

from rapideye import main

main()
