"""Language models as their services answer over a socket."""
