"""Two of the project's controllers once more in Python: what `sounding.Controller` gives is enough for them."""
