package protocol

import (
	"strings"
	"testing"
)

func TestAKeyThatIsNone(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "aa", strings.Repeat("zz", keyBytes), strings.Repeat("aa", keyBytes+1)} {
		if _, err := NewIdentity(key); err == nil {
			t.Errorf("%q is taken", key)
		}
	}
}
