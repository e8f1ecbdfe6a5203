package livesnapshot

import "testing"

func TestTheHeapIsBoundedByWhatIsKeptInIt(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	cases := map[string]struct{ kept, least, most int64 }{
		"a small cluster has what the design's has":                {kept: 20 * mb, least: minLimit, most: minLimit},
		"the design's cluster stays below 300 MB with the program": {kept: 125 * mb, least: minLimit, most: 210 * mb},
		"a larger one has what it keeps and room to change":        {kept: 1000 * mb, least: 1300 * mb, most: 1400 * mb},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if bound := memoryLimitFor(uint64(c.kept)); bound < c.least || bound > c.most || bound < c.kept*5/4 { //nolint:gosec // positive
				t.Errorf("with %d MB kept the heap may take %d MB", c.kept/mb, bound/mb)
			}
		})
	}
}
