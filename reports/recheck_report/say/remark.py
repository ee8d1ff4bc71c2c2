"""What a reader has to know in addition to the numbers: a warning, or a fact about a run."""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.say.nodes import Note, Text, strong


@dataclass(frozen=True)
class Remark:
    """`title` names it where there is no room for more; `rest` continues it."""

    title: str
    rest: Text
    warning: bool = True

    @property
    def text(self) -> Text:
        return strong(self.title) + self.rest

    @property
    def note(self) -> Note:
        return Note(self.text, self.warning)
