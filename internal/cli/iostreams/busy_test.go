package iostreams

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBusyIsShownAfterHalfASecondAndGivesWayToWhatIsPrinted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		s := Streams{Out: &screen, Err: &screen, ErrTTY: true, Env: func(string) string { return "" }}
		b := s.StartBusyLine("waiting")
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		if screen.Len() > 0 {
			t.Errorf("shown too early: %q", screen.String())
		}
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		if got := screen.String(); got != "| waiting" {
			t.Errorf("it shows %q", got)
		}
		b.SetText("%d/%d", 3, 40)
		fmt.Fprintln(s.Out, "a result")
		if got := screen.String(); !strings.HasSuffix(got, "waiting\r\x1b[Ka result\n") {
			t.Errorf("a result stands beside it: %q", got)
		}
		time.Sleep(150 * time.Millisecond)
		b.RemoveLine()
		if got := screen.String(); !strings.HasSuffix(got, "/ 3/40\r\x1b[K") {
			t.Errorf("it does not go away: %q", got)
		}
		if s.Out != &screen || s.Err != &screen {
			t.Error("the streams are not given back")
		}
	})
}

func TestBusyIsNotShown(t *testing.T) {
	t.Parallel()
	cases := map[string]Streams{
		"where errors go to a pipe": {Env: func(string) string { return "" }},
		"on a dumb terminal":        {ErrTTY: true, Env: func(string) string { return "dumb" }},
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var screen bytes.Buffer
				s.Out, s.Err = &screen, &screen
				b := s.StartBusyLine("waiting")
				time.Sleep(5 * time.Second)
				b.SetText("still")
				b.RemoveLine()
				if screen.Len() > 0 {
					t.Errorf("it shows %q", screen.String())
				}
			})
		})
	}
}
