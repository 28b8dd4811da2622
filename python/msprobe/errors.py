"""The error that users see."""


class MsprobeError(ValueError):
    """What is wrong with the configuration or the order of calls, in one English sentence."""
