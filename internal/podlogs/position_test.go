package podlogs

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestALogThatIsReopenedContinuesWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	const log = "2026-03-01T12:00:00.1Z a\n2026-03-01T12:00:00.1Z b\n2026-03-01T12:00:00.2Z c\n2026-03-01T12:00:01Z \n"
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	lines[3] += "\n"
	for broken := range lines {
		at, printed := &Position{}, ""
		read := func(line string) {
			if _, text, isNew := at.Advance([]byte(line)); isNew {
				printed += string(text)
			}
		}
		for _, line := range lines[:broken] {
			read(line)
		}
		at.Resume(&corev1.PodLogOptions{})
		for _, line := range lines { // since is in seconds, so the server sends all lines of that second
			read(line)
		}
		if want := "a\nb\nc\n\n"; printed != want {
			t.Errorf("broken off after %d lines: %q, want %q", broken, printed, want)
		}
	}
	at := &Position{}
	if _, text, isNew := at.Advance([]byte("no time here\n")); string(text) != "no time here\n" || !isNew || !at.IsStart() {
		t.Errorf("a line without a time becomes %q", text)
	}
}
