# The one place that holds the version: CMake and the build of the wheel read this line.
__version__ = "0.1.0"
