package job

import (
	"strings"
	"testing"
)

func TestALogThatIsOpenedAgainGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	const log = "2026-03-01T12:00:00.1Z a\n2026-03-01T12:00:00.1Z b\n2026-03-01T12:00:00.2Z c\n2026-03-01T12:00:01Z \n"
	for _, stamped := range []bool{false, true} {
		want := log
		if !stamped {
			want = "a\nb\nc\n\n"
		}
		lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
		lines[3] += "\n"
		for broken := range lines {
			at, printed := &position{stamped: stamped}, ""
			for _, line := range lines[:broken] {
				printed += string(at.skipPrinted([]byte(line)))
			}
			at.passed = 0
			for _, line := range lines { // since is in seconds, so the server sends all lines of that second
				printed += string(at.skipPrinted([]byte(line)))
			}
			if printed != want {
				t.Errorf("broken off after %d lines (stamped %t): %q, want %q", broken, stamped, printed, want)
			}
		}
	}
	at := &position{}
	if got := at.skipPrinted([]byte("no time here\n")); string(got) != "no time here\n" || !at.last.IsZero() {
		t.Errorf("a line without a time becomes %q", got)
	}
}
