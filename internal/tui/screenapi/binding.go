package screenapi

// Binding is a row of the table of keys.
type Binding struct {
	// Screen is the screen on which the key works: one of the names, or Everywhere.
	Screen string
	// Key is the terminal library's name of the key ("x", "S", "ctrl+d", "enter", "space", "pgdown"). Also lists
	// further keys with the same effect.
	Key  string
	Also []string
	// Name is one or two words for the footer, Help a sentence without a full stop.
	Name, Help string
	// Footer is the position in the footer, from 1; 0 means not shown. Keys that do not fit are omitted from the end.
	Footer int
	// Writes means that the key changes something, so --readonly disables it.
	Writes bool
	// Guard returns the reason why the action is not possible now, or "". Nil means always possible.
	Guard func(*Context, Screen) string
	// Do returns the effects of the key.
	Do func(*Context, Screen) []Effect
}

// Keys returns the names of all keys of the row.
func (b *Binding) Keys() []string { return append([]string{b.Key}, b.Also...) }

// On makes a Do from a function for one type of screen.
func On[S Screen](do func(S, *Context) []Effect) func(*Context, Screen) []Effect {
	return func(ctx *Context, s Screen) []Effect {
		if own, ok := s.(S); ok {
			return do(own, ctx)
		}
		return nil
	}
}

// When makes a Guard from a function for one type of screen.
func When[S Screen](guard func(S, *Context) string) func(*Context, Screen) string {
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
	// Tab is the name in the row of tabs; "" means no tab. Number is the key that opens it.
	Tab, ShortTab string
	Number        string
	// New creates a screen; target is the target of Open.
	New  func(target string) Screen
	Keys []Binding
}
