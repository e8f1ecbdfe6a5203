package version

import "testing"

func TestImageVersionIsTheTagOrTheDigest(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"ghcr.io/vc-batch/vcd:v0.1.0":                 "v0.1.0",
		"ghcr.io/vc-batch/vcd:v0.1.0@sha256:0123abcd": "v0.1.0",
		"registry:5000/vcd@sha256:0123abcd":           "sha256:0123abcd",
		"registry:5000/vcd":                           "latest",
		"vcd":                                         "latest",
	} {
		if got := imageVersion(image); got != want {
			t.Errorf("%s: version %s, want %s", image, got, want)
		}
	}
}
