"""Labels given by a person, one action at a time, and what follows from them."""
