package cli

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"research", "default", "infer", "prod"}
	for word, want := range map[string]string{
		"reserch": "research", "researhc": "research", "defaul": "default", "infre": "infer", "production": "", "x": "", "": "", "research": "research",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistanceIsADistance(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if (distance(a, b) == 0) != (a == b) {
			t.Fatalf("distance(%q, %q) = %d", a, b, distance(a, b))
		}
		if distance(a, b) != distance(b, a) {
			t.Fatalf("distance(%q, %q) is not symmetric", a, b)
		}
		if d := distance(a, b); d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d is more than either length", a, b, d)
		}
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		want string
		code int
	}{
		"what, then what to do": {Errorf("do that", "queue %q does not exist", "x"), "error: queue \"x\" does not exist\nhint:  do that\n", 1},
		"several errors are all told": {errors.Join(Errorf("", "one"), fmt.Errorf("wrapped: %w", errors.New("two"))),
			"error: one\nerror: wrapped: two\n", 1},
		"several lines stand below each other": {Errorf("", "one\ntwo"), "error: one\n       two\n", 1},
		"the first code counts":                {errors.Join(&Error{What: "no", Code: ExitForbidden}, Errorf("", "two")), "error: no\nerror: two\n", ExitForbidden},
		"an exit status is silent":             {ExitStatus(42), "", 42},
		"no at a prompt":                       {Cancelled, "error: cancelled: nothing was changed\n", ExitCancelled},
		"nothing":                              {nil, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := Report(&out, tc.err, Connection{})
			if diff := cmp.Diff(tc.want, out.String()); diff != "" || code != tc.code {
				t.Errorf("code %d, want %d; text (-want +got):\n%s", code, tc.code, diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	got := Text(`
		One
		  two

		three
	`)
	if diff := cmp.Diff("One\n  two\n\nthree", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
