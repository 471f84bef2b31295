"""What we depend on: known vulnerabilities, the bill of materials, and the threats that SECURITY.md names."""
