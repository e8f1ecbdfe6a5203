package nodes

import (
	"context"
	"errors"
	"testing"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/test/tuitest"
)

// oneRefused cordons all nodes except one, for which it returns an error.
type oneRefused struct {
	screenapi.Actions
	name string
}

func (o oneRefused) Node(_ context.Context, _ screenapi.Verb, name string) (string, error) {
	if name == o.name {
		return "", errors.New(name + " may not be changed")
	}
	return "node " + name + " cordoned", nil
}

func TestOfNodesThatAreCordonedOnlyThoseThatWereAreNamed(t *testing.T) {
	t.Parallel()
	for refused, want := range map[string]struct{ said, err string }{
		"n2":   {"2 nodes cordoned: n[1,3]", "n2 may not be changed"},
		"none": {"3 nodes cordoned: n[1-3]", ""},
	} {
		n := New("").(*Nodes)
		ctx := &screenapi.Context{Snap: snapshot.EmptySnapshot(tuitest.Now), Now: tuitest.Now, Actions: oneRefused{name: refused}}
		for _, name := range []string{"n1", "n2", "n3"} {
			n.all = append(n.all, &node{Name: name, State: "idle"})
		}
		n.table.SetRows(&screenapi.Context{Now: tuitest.Now}, n.all, false)
		n.table.MarkAll()
		ask := n.toggleCordon(ctx)[0].(screenapi.Ask)
		said, err := ask.Then[0].(screenapi.Run).Do(t.Context())
		text := ""
		if err != nil {
			text = err.Error()
		}
		if said != want.said || text != want.err {
			t.Errorf("%s refused: %q and %q, want %+v", refused, said, text, want)
		}
	}
}
