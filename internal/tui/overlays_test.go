package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

func TestAQuestionSaysWhatWillHappenHoweverLittleRoomThereIs(t *testing.T) {
	t.Parallel()
	ask := &screenapi.Ask{Question: "Delete 40 jobs?", Count: 40, Lines: []string{"The jobs, their pods and their logs will be deleted.", "2 jobs left as they are."}}
	for i := range 6 {
		ask.Named = append(ask.Named, fmt.Sprintf("some-namespace/a-job-with-quite-a-long-name-%d R 1-04:12:00 128 gpu", i))
	}
	for _, width := range []int{30, 40, 52, 90} {
		for room := 6; room < 20; room++ {
			lines := fitQuestion(ask, width, room)
			text := strings.Join(lines, " ")
			if len(lines) > room || !strings.Contains(text, ask.Question) || !strings.Contains(text, ask.Lines[0]) || !strings.Contains(text, ask.Lines[1]) {
				t.Errorf("in %d lines of %d cells:\n%s", room, width, strings.Join(lines, "\n"))
			}
		}
	}
}
