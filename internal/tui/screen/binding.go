package screen

// Binding is a row of the table of keys.
type Binding struct {
	// Screen is where the key works: one of the names, or Everywhere.
	Screen string
	// Key is what is pressed, as the terminal library calls it ("x", "S", "ctrl+d",
	// "enter", "space", "pgdown"); Also are others that do the same.
	Key  string
	Also []string
	// Name is one or two words for the footer, Help a sentence without a full stop.
	Name, Help string
	// Footer is the place in the footer, from 1; 0 is not there. What does not fit
	// is left out from the end.
	Footer int
	// Writes says that it changes something: --readonly refuses it.
	Writes bool
	// Guard says why it cannot be done now; "" is that it can. nil never refuses.
	Guard func(*Context, Screen) string
	// Do is what happens.
	Do func(*Context, Screen) []Effect
}

// Keys are the names of all keys of the row.
func (b *Binding) Keys() []string { return append([]string{b.Key}, b.Also...) }

// On makes a Do of a function of one type of screen.
func On[S Screen](do func(S, *Context) []Effect) func(*Context, Screen) []Effect {
	return func(ctx *Context, s Screen) []Effect {
		if own, ok := s.(S); ok {
			return do(own, ctx)
		}
		return nil
	}
}

// When makes a Guard of a function of one type of screen.
func When[S Screen](guard func(S, *Context) string) func(*Context, Screen) string {
	return func(ctx *Context, s Screen) string {
		if own, ok := s.(S); ok {
			return guard(own, ctx)
		}
		return ""
	}
}

// Spec is all that the dashboard needs to know of a kind of screen.
type Spec struct {
	Name string
	// Tab is its name in the row of tabs; "" is not there. Number opens it.
	Tab, ShortTab string
	Number        string
	// New makes one; target is what Open says.
	New  func(target string) Screen
	Keys []Binding
}
