package screenapi

// Binding is a row of the key table.
type Binding struct {
	// Screen is the screen on which the key works: the name of a screen, or Everywhere.
	Screen string
	// Key is the terminal library's name of the key, such as "x", "S", "ctrl+d", "enter", "space" or "pgdown". Also
	// lists other keys with the same effect.
	Key  string
	Also []string
	// Name is one or two words for the footer; Help is a sentence without a full stop.
	Name, Help string
	// Footer is the position in the footer, starting at 1; 0 means that the key is not shown. If not all keys fit,
	// the last ones are omitted.
	Footer int
	// Writes is true if the key changes something; --readonly disables such keys.
	Writes bool
	// Guard returns the reason why the action is currently impossible, or "". If Guard is nil, it is always possible.
	Guard func(*Context, Screen) string
	// Do returns the effects of pressing the key.
	Do func(*Context, Screen) []Effect
}

// KeysWithAliases returns the names of all keys of the row.
func (b *Binding) KeysWithAliases() []string { return append([]string{b.Key}, b.Also...) }

// DoForScreen converts a function for one type of screen to a Do function.
func DoForScreen[S Screen](do func(S, *Context) []Effect) func(*Context, Screen) []Effect {
	return func(ctx *Context, s Screen) []Effect {
		if own, ok := s.(S); ok {
			return do(own, ctx)
		}
		return nil
	}
}

// GuardForScreen converts a function for one type of screen to a Guard function.
func GuardForScreen[S Screen](guard func(S, *Context) string) func(*Context, Screen) string {
	return func(ctx *Context, s Screen) string {
		if own, ok := s.(S); ok {
			return guard(own, ctx)
		}
		return ""
	}
}

// Spec describes a kind of screen.
type Spec struct {
	Name string
	// Tab is the name in the row of tabs; it is empty for screens that are not tabs. Number is the key that opens the
	// tab.
	Tab, ShortTab string
	Number        string
	// New creates a screen; target is the target of Open.
	New func(target string) Screen
	// Filter is the filter with which the tab is opened; it is empty except for the user's saved filters.
	Filter string
	Keys   []Binding
}
