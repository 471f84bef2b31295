"""One machine: serves the handlers over HTTP, stdio and a folder."""
