"""What agents store and ask: six invented teams, their memories and questions. Written by hand; README.md tells how."""
