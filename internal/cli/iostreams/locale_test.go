package iostreams

import (
	"fmt"
	"testing"
)

func TestCutTextsAreShownAsTheLocaleCan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env      map[string]string
		terminal bool
		want     string
	}{
		"UTF-8":                       {map[string]string{"LANG": "de_DE.UTF-8"}, true, "not enough…"},
		"nothing is said":             {nil, true, "not enough…"},
		"the C locale":                {map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, true, "not enough~"},
		"another encoding":            {map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1"}, true, "not enough~"},
		"what is no terminal's bytes": {map[string]string{"LC_ALL": "C"}, false, "not enough…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			width := 0
			if tc.terminal {
				width = 80
			}
			s, out, errOut := TestStreams("", width)
			s.Env = func(name string) string { return tc.env[name] }
			s.ErrTTY = tc.terminal
			s.applyLocale()
			for _, to := range []struct {
				n   int
				err error
			}{write(s.Out.Write), write(s.Err.Write)} {
				if to.err != nil || to.n != len("not enough…") {
					t.Errorf("wrote %d bytes, %v", to.n, to.err)
				}
			}
			if got := fmt.Sprint(out, "|", errOut); got != tc.want+"|"+tc.want {
				t.Errorf("%s, want %s twice", got, tc.want)
			}
		})
	}
}

func write(to func([]byte) (int, error)) struct {
	n   int
	err error
} {
	n, err := to([]byte("not enough…"))
	return struct {
		n   int
		err error
	}{n, err}
}
