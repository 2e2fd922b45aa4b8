"""Knight's tours, enumerated by many workers into Parquet. Import from the submodules; this one stays empty."""

__version__ = "0.1.0"
