"""The viewer as a tab of TensorBoard: see `plugin.py`."""
