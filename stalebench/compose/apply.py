"""Applies one patch to a tree, three ways, as `git merge` does it. Judges files, explains nothing.

The patch's own tree is the ancestor, so that what the other tree changed elsewhere in a file is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from stalebench.compose.contents import merged
from stalebench.compose.objects import SUBMODULE, Change, Entry, Objects
from stalebench.compose.patch import Patch
from stalebench.compose.renames import with_renames
from stalebench.compose.results import Clash, Problem


@dataclass(frozen=True, slots=True)
class Head:
    """A tree with a patch applied, and how it differs from the tree without."""

    tree: str
    changes: tuple[Change, ...]


def apply(objects: Objects, tree: str, patch: Patch) -> Head | list[Problem]:
    """The tree with the patch, or the files that conflict."""
    if tree == patch.before:
        submodules = [change for change in patch.changes if _is_submodule(change)]
        problems = [Problem(change.path, Clash.SUBMODULE) for change in submodules]
        return problems or Head(patch.after, patch.changes)
    applying = _Applying(objects, tree, patch)
    for change in patch.changes:
        applying.change(change)
    applying.look_for_folders()
    return applying.problems or applying.head()


def _is_submodule(change: Change) -> bool:
    return any(entry is not None and entry.mode == SUBMODULE for entry in (change.old, change.new))


class _Applying:
    """The edits of one tree that a patch comes to, and the problems on the way."""

    def __init__(self, objects: Objects, tree: str, patch: Patch) -> None:
        self.objects = objects
        self.tree = tree
        self.patch = patch
        self.edits: dict[str, Entry | None] = {}
        self.problems: list[Problem] = []

    def change(self, change: Change) -> None:
        """Apply the change of one file."""
        if _is_submodule(change):
            self._problem(change.path, Clash.SUBMODULE)
        elif change.source:
            self._rename(change, change.source)
        elif change.old is None:
            self._add(change.path, change.new)
        else:
            self._modify(change.path, change.old, change.new)

    def head(self) -> Head:
        """The tree with all edits."""
        edits = {path: entry for path, entry in self.edits.items() if self._file(path) != entry}
        if not edits:
            return Head(self.tree, ())
        changes = [Change(path, self._file(path), entry) for path, entry in sorted(edits.items())]
        return Head(self.objects.edit(self.tree, edits), with_renames(self.objects, changes))

    def look_for_folders(self) -> None:
        """Find the files that would stand where there is a folder, or below another file."""
        for path, entry in self.edits.items():
            if entry is not None and not self._has_room(path):
                self._problem(path, Clash.FOLDER)

    def _problem(self, path: str, clash: Clash) -> None:
        self.problems.append(Problem(path, clash))

    def _set(self, path: str, entry: Entry | Clash | None) -> None:
        if isinstance(entry, Clash):
            self._problem(path, entry)
        elif path in self.edits:
            self._problem(path, Clash.RENAMED)
        else:
            self.edits[path] = entry

    def _file(self, path: str) -> Entry | None:
        found = self.objects.find(self.tree, path)
        return None if found is None or found.is_folder else found

    def _add(self, path: str, new: Entry | None) -> None:
        present = self._file(path)
        if new is None or present == new:
            return
        if present is not None:
            self._set(path, merged(self.objects, None, present, new))
        elif self._folder_was_renamed(path):
            self._problem(path, Clash.RENAMED)
        else:
            self._set(path, new)

    def _modify(self, path: str, old: Entry, new: Entry | None) -> None:
        present = self._file(path)
        if present == old:
            self._set(path, new)
        elif present is None:
            self._modify_renamed(path, old, new)
        elif new is None:
            self._problem(path, Clash.DELETED)
        elif present != new:
            self._set(path, merged(self.objects, old, present, new))

    def _modify_renamed(self, path: str, old: Entry, new: Entry | None) -> None:
        """The file is not there: what the patch does to it is done where it was renamed to."""
        target = self._renamed().get(path)
        present = self._file(target) if target else None
        if new is None:
            if target:
                self._problem(path, Clash.RENAMED)
        elif target is None or present is None:
            self._problem(path, Clash.MISSING)
        else:
            self._set(target, merged(self.objects, old, present, new))

    def _rename(self, change: Change, source: str) -> None:
        old, new = change.old, change.new
        if old is None or new is None:
            return
        present, target = self._file(source), self._file(change.path)
        if present is None:
            self._rename_missing(change, source, old, new)
            return
        result = merged(self.objects, old, present, new)
        if target is not None and not isinstance(result, Clash):
            result = merged(self.objects, None, target, result)
        elif target is None and self._folder_was_renamed(change.path):
            result = Clash.RENAMED
        self._set(change.path, result)
        self._set(source, None)

    def _rename_missing(self, change: Change, source: str, old: Entry, new: Entry) -> None:
        renamed = self._renamed().get(source)
        target = self._file(change.path)
        if renamed == change.path and target is not None:
            self._set(change.path, merged(self.objects, old, target, new))
        else:
            self._problem(source, Clash.RENAMED if renamed else Clash.MISSING)

    def _renamed(self) -> dict[str, str]:
        """What this tree renamed since the patch's ancestor: old path -> new path."""
        return renamed(self.objects, self.patch.before, self.tree, self.patch.paths)

    def _folder_was_renamed(self, path: str) -> bool:
        """Whether a file is added to a folder that this tree moved elsewhere: git leaves that to the user."""
        folder = path.rpartition("/")[0]
        while folder and self.objects.find(self.tree, folder) is None:
            if self.objects.find(self.patch.before, folder) is not None:
                inside = folder + "/"
                moved = renamed(self.objects, self.patch.before, self.tree, None)
                if any(source.startswith(inside) for source in moved):
                    return True
            folder = folder.rpartition("/")[0]
        return False

    def _has_room(self, path: str) -> bool:
        present = self.objects.find(self.tree, path)
        if present is not None and present.is_folder:
            inside = self.objects.files(present.id, path + "/")
            return all(file in self.edits and self.edits[file] is None for file, _ in inside)
        return present is not None or not self._below_a_file(path)

    def _below_a_file(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        while folder:
            if self.edits.get(folder) is not None:
                return True
            if self._file(folder) is not None and folder not in self.edits:
                return True
            folder = folder.rpartition("/")[0]
        return False


def renamed(objects: Objects, before: str, after: str, relevant: tuple[str, ...] | None) -> dict[str, str]:
    """The files that were renamed from one tree to another, as far as relevant: old path -> new path."""
    key = (before, after, relevant)
    found = objects.renames.get(key)
    if found is None:
        changes = with_renames(objects, objects.changes(before, after), relevant)
        found = {change.source: change.path for change in changes if change.source}
        objects.renames[key] = found
    return found
