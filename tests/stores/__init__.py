"""Real object stores for tests: folders, in-process moto, the emulator, SeaweedFS, and a server with a script."""
