package v1alpha1

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FuzzPlugin parses arbitrary arguments of plugins: there must be no panic, and each error must refer to one of them.
func FuzzPlugin(f *testing.F) {
	f.Add(uint(0), "--master=m\x00--port=1")
	f.Add(uint(3), "--port\x0070000")
	f.Add(uint(5), "-\x00--\x00=\x00--=x")
	f.Fuzz(func(t *testing.T, which uint, text string) {
		words := strings.Split(text, "\x00")
		at := field.NewPath("plugins")
		_, errs := ParsePlugin(PluginNames[which%uint(len(PluginNames))], words, at)
		if len(errs) > len(words) {
			t.Errorf("%d faults in %d words", len(errs), len(words))
		}
		for _, err := range errs {
			if !strings.HasPrefix(err.Field, "plugins[") {
				t.Errorf("a fault stands at %s", err.Field)
			}
		}
	})
}

// FuzzJobID verifies that an accepted job number is formatted as it was written.
func FuzzJobID(f *testing.F) {
	for _, text := range []string{"1", "0", "-1", "+1", "01", "9223372036854775808", "1_000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if id, ok := ParseJobID(text); ok && (id < 1 || FormatJobID(id) != text) {
			t.Errorf("%q is %d", text, id)
		}
	})
}
