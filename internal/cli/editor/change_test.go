package editor

import "testing"

func TestIsUserChange(t *testing.T) {
	t.Parallel()
	const shown = "# Edit the queue.\n# weight: must be at least 1\n#\nweight: 0\n"
	for name, c := range map[string]struct {
		saved string
		want  bool
	}{
		"the same text":                    {shown, false},
		"another body":                     {"# Edit the queue.\n# weight: must be at least 1\n#\nweight: 2\n", true},
		"a comment that a command rewrote": {"# Edit the queue.\n# weight: 7\n#\nweight: 0\n", false},
		"a deleted comment":                {"# Edit the queue.\n#\nweight: 0\n", true},
		"no comments":                      {"weight: 0\n", true},
		"a comment added":                  {"# note\n# Edit the queue.\n# weight: must be at least 1\n#\nweight: 0\n", false},
		"an empty file":                    {"", true},
	} {
		if got := isUserChange([]byte(shown), []byte(c.saved)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
