"""What every test run shares: the count of skips by reason, and only listed reasons."""

pytest_plugins = ["tests.structure.skip_report", "tests.stores.fixtures"]
