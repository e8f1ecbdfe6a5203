package deviceshare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/test/propertytest"
)

func TestGrantsSurviveTheirAnnotation(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		var g grant
		for range rapid.IntRange(1, 3).Draw(t, "containers") {
			var pieces []piece
			for range rapid.IntRange(0, 2).Draw(t, "cards") {
				pieces = append(pieces, piece{
					card: rapid.StringMatching(`GPU-[a-f0-9-]{1,8}`).Draw(t, "uuid"), kind: rapid.StringMatching(`[A-Z0-9 -]{0,8}`).Draw(t, "kind"),
					amounts: amounts{1, rapid.Int64Range(0, 1<<20).Draw(t, "memory"), rapid.Int64Range(0, 100).Draw(t, "cores")},
				})
			}
			g = append(g, pieces)
		}
		text := g.String()
		if text == "" {
			return
		}
		back, err := parseGrant(text)
		if diff := cmp.Diff(g, back, cmp.AllowUnexported(piece{}, amounts{})); err != nil || diff != "" {
			t.Fatalf("%s: %v (-written +read):\n%s", text, err, diff)
		}
	})
}

func FuzzRegister(f *testing.F) {
	for _, seed := range []string{"", "GPU-0,10,16000,T4,true,hami-core:", "a,1,1,k,false:b,2,2,k,1:", "x,,,:", ":::", "a,-1,9223372036854775808,k,true:", "a,1,1,k,true,mig:a,1,1,k,true:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cards, problem := parseRegister(text)
		seen := map[string]bool{}
		for _, c := range cards {
			if c.id == "" || seen[c.id] || c.slots < 0 || c.memory < 0 || c.memory > resource.MaxAmount {
				t.Errorf("card %+v of %q", c, text)
			}
			seen[c.id] = true
		}
		if len(cards) == 0 && problem == "" && strings.Trim(text, ": \t\n\v\f\r\u0085\u00a0") != "" && strings.TrimFunc(text, func(r rune) bool { return r == ':' || r == ' ' }) != "" {
			if strings.TrimSpace(strings.ReplaceAll(text, ":", "")) != "" {
				t.Errorf("%q gave nothing, and nothing was said of it", text)
			}
		}
	})
}

func FuzzGrant(f *testing.F) {
	for _, seed := range []string{"", "GPU-0,T4,1000,0:", ";GPU-0,T4,1,1:GPU-1,T4,2,2:;", "a,b,-1,5:", "a,b,c:", "a,b,1,99999999999999999999:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := parseGrant(text)
		if err != nil {
			return
		}
		if back, err := parseGrant(g.String()); g.String() != "" && (err != nil || back.String() != g.String()) {
			t.Errorf("%q is read as %q, that as %q (%v)", text, g.String(), back.String(), err)
		}
	})
}

func FuzzIndexes(f *testing.F) {
	for _, seed := range []string{"", "0", "0,2", "-1", "1,,1", "99999999999999999999", "a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := parseIDs(text)
		if err != nil {
			return
		}
		for _, id := range ids {
			if id < 0 || id >= maxCards {
				t.Errorf("%q has card %d", text, id)
			}
		}
	})
}
