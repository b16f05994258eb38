"""The settings screen: every setting with its value and where it is set."""

import os
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import DataTable, Input, Static

from lrwr.app.presenters.text import sanitize_text
from lrwr.core.settings.loader import format_toml_value
from lrwr.core.settings.model import Settings, SettingSource, index_settings
from lrwr.tui.actions.screen_keys import CLOSE_ACTION, HELP_ACTION
from lrwr.tui.screens.dialogs import SIDE_BY_SIDE, ModalSheet
from lrwr.tui.widgets.status import KeyFooter


class SettingsScreen(ModalSheet[None]):
    """Lists all settings with their values, which users change in lrwr.toml.

    `query` fills the filter, which matches names and explanations, ignoring case.
    """

    DEFAULT_CSS: ClassVar[str] = """
    SettingsScreen {
        & > Vertical { max-width: 120; }
        Input { margin: 1 0 0 0; border: none; height: 1; padding: 0 1; }
        DataTable {
            height: 1fr;
            margin: 1 0 0 0;
            background: $surface;
            scrollbar-size: 1 1;
        }
        .meaning { height: 4; color: $text-muted; margin: 1 0 0 0; }
        &.-narrow {
            & > Vertical { width: 100%; height: 100%; padding: 0 1; }
            Input, DataTable, .meaning { margin: 0; }
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_ACTION.binding,
        HELP_ACTION.binding,
        Binding("down", "into_table", show=False, id="list.down"),
    ]

    def __init__(self, settings: Settings, query: str = "") -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]
        self._settings = settings
        self._query = query

    def compose(self) -> ComposeResult:
        """Lay out filter, table, and the explanation of the highlighted setting."""
        with Vertical():
            yield Static("Settings", classes="title")
            yield Input(self._query, placeholder="Search settings…", compact=True)
            yield DataTable(cursor_type="row", zebra_stripes=True)
            yield Static(markup=False, classes="meaning")
            yield Static(
                "To change a setting, edit lrwr.toml and restart lrwr.",
                classes="hint",
            )
            yield KeyFooter()

    def on_mount(self) -> None:
        """Fill the table and focus the filter."""
        table = self.query_one(DataTable)
        table.add_columns("Setting", "Value", "Set by")
        self._fill()
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _fill(self) -> None:
        query = self.query_one(Input).value.strip().lower()
        table = self.query_one(DataTable)
        table.clear()
        for key, setting in index_settings().items():
            if query in f"{key} {setting.about.meaning}".lower():
                table.add_row(*map(Text, self._row(key)), key=key)
        self._tell()

    @on(DataTable.RowHighlighted)
    def _tell(self) -> None:
        """Say what the chosen setting means."""
        table = self.query_one(DataTable)
        meaning = "No setting matches."
        if table.row_count:
            row = table.coordinate_to_cell_key(table.cursor_coordinate).row_key
            setting = index_settings()[str(row.value)]
            meaning = f"{setting.about.meaning} Default: {format_toml_value(setting.default)}."
            _, _, where = self._row(str(row.value))
            meaning += f" Set by {where}." if where != SettingSource.DEFAULT else ""
        self.query_one(".meaning", Static).update(meaning)

    def action_close(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_into_table(self) -> None:
        """Move the focus from the filter to the table."""
        self.query_one(DataTable).focus()

    def _row(self, key: str) -> tuple[str, str, str]:
        origin = self._settings.origin(key)
        where = origin.where.removeprefix(f"{self._settings.root}{os.sep}")
        value = sanitize_text(format_toml_value(self._settings.value(key)))
        return key, value, sanitize_text(where or str(origin.source))
