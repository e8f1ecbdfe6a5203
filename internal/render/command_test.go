package render

import "testing"

func TestCommandsBeginWithTheProgramThatWasTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, program, want string }{
		"two commands":             {"vcctl job hold A, or vcctl job delete A", "kubectl vc", "kubectl vc job hold A, or kubectl vc job delete A"},
		"in parentheses":           {"list them (vcctl queue list)", "kubectl vc", "list them (kubectl vc queue list)"},
		"in quotes":                {"`vcctl queue close default` rejects them", "kubectl vc", "`kubectl vc queue close default` rejects them"},
		"the program itself":       {"vcctl job hold A", "vcctl", "vcctl job hold A"},
		"an unknown program":       {"vcctl job hold A", "", "vcctl job hold A"},
		"a program that ends so":   {"run ./vcctl job or my-vcctl job", "kubectl vc", "run ./vcctl job or my-vcctl job"},
		"the word without command": {"vcctl, not kubectl", "kubectl vc", "vcctl, not kubectl"},
		"no command":               {"wait", "kubectl vc", "wait"},
	} {
		if got := ReplaceProgramName(c.text, c.program); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
