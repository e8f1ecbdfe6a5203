package tuitest

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// special maps the names of keys without a character.
var special = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
}

// NewKeyPress returns a key by its name in the table of keys: "x", "S", "ctrl+d", "enter".
func NewKeyPress(name string) tea.KeyPressMsg {
	var mod tea.KeyMod
	for {
		rest, ok := strings.CutPrefix(name, "ctrl+")
		if ok {
			name, mod = rest, mod|tea.ModCtrl
			continue
		}
		if rest, ok = strings.CutPrefix(name, "alt+"); ok {
			name, mod = rest, mod|tea.ModAlt
			continue
		}
		if rest, ok = strings.CutPrefix(name, "shift+"); ok && len(rest) > 1 {
			name, mod = rest, mod|tea.ModShift
			continue
		}
		break
	}
	if code, ok := special[name]; ok {
		key := tea.KeyPressMsg{Code: code, Mod: mod}
		if name == "space" {
			key.Text = " "
		}
		return key
	}
	r := []rune(name + "?")[0]
	key := tea.KeyPressMsg{Code: r, Mod: mod}
	if mod == 0 {
		key.Text = string(r)
	}
	return key
}
