package explain

import (
	"slices"
	"testing"
)

func TestALabelThatIsWrittenAlikeIsNamed(t *testing.T) {
	t.Parallel()
	nodes := []map[string]string{{"gpu": "a100", "zone": "x"}, {"gpu": "h100", "disk": "ssd"}}
	for label, want := range map[string]string{
		"gpu=a10": "gpu=a100", "gpu=A100": "gpu=a100", "gqu=h100": "gpu=h100", "gpu=v9": "", "rack=7": "", "zone=y": "zone=x",
	} {
		if got := SuggestLabel(label, slices.Values(nodes)); got != want {
			t.Errorf("%s: got %q, want %q", label, got, want)
		}
	}
}
