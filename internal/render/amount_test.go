package render

import "testing"

func TestAmountsAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int64]string{0: "0", 100: "0.1", 1250: "1.25", 3920: "3.92", 12_500: "12.5", 12_160_000: "12160", 123_456: "123", -500: "-0.5"} {
		if got := FormatCores(milli); got != want {
			t.Errorf("Cores(%d) = %q, want %q", milli, got, want)
		}
	}
	for bytes, want := range map[int64]string{0: "0", 1 << 30: "1Gi", 9 << 30: "9Gi", 3 << 29: "1536Mi", 1015 << 30: "1015Gi", 95 << 40: "95Ti", 6265300 << 10: "6118Mi", 39013 << 30: "38.1Ti", -(2 << 30): "-2Gi"} {
		if got := FormatMemory(bytes); got != want {
			t.Errorf("Memory(%d) = %q, want %q", bytes, got, want)
		}
	}
	if got := FormatAmount("nvidia.com/gpu", 8); got != "8" {
		t.Errorf("Amount of gpus = %q", got)
	}
}
