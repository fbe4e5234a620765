"""Reference data made by another implementation of the same contract: sets, corpora, reports."""

from __future__ import annotations

import tarfile
from functools import cache, cached_property
from pathlib import Path


class Oracle:
    """Unpacks corpora once and keeps account of which files were compared."""

    def __init__(self, folder: Path, workplace: Path) -> None:
        """`workplace` is where corpora are unpacked."""
        self.folder = folder
        self._workplace = workplace
        self.compared: set[str] = set()

    @cached_property
    def names(self) -> list[str]:
        """The corpora, by name."""
        return sorted(path.name.removesuffix(".tar.gz") for path in (self.folder / "corpora").iterdir())

    @cache  # noqa: B019 - one oracle a session
    def unpack(self, name: str, part: str = ".") -> Path:
        """The folder in which the corpus stands under its name; `part` is a folder of the reference data."""
        with tarfile.open(self.folder / part / "corpora" / f"{name}.tar.gz") as archive:
            # Python 3.11.0 to 3.11.3 know no filters and heed none; these archives are ours.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(self._workplace)
        return self._workplace

    def read(self, path: str) -> bytes:
        """The bytes of a reference file, which counts as compared from now on."""
        self.compared.add(path)
        return (self.folder / path).read_bytes()

    def reports(self) -> set[str]:
        """Every file that holds what the other implementation printed."""
        files = [*(self.folder / "reports").iterdir(), *(self.folder / "starter").iterdir()]
        return {path.relative_to(self.folder).as_posix() for path in files if path.is_file()}
