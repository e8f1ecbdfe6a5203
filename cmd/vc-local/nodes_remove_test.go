package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/usererror"
)

func TestNodesToRemoveAreNamedOrCounted(t *testing.T) {
	nodes := []local.NodeStatus{
		{Name: "node-1", Kind: nodespec.KindProcess}, {Name: "node-2", Kind: nodespec.KindProcess},
		{Name: "big", Kind: nodespec.KindSimulated}, {Name: "sim-10", Kind: nodespec.KindSimulated}, {Name: "sim-9", Kind: nodespec.KindSimulated},
		{Name: "foreign"},
	}
	for name, c := range map[string]struct {
		wanted  removal
		want    string
		refused string
	}{
		"names, each once":             {removal{names: []string{"a", "b", "a"}}, "a b", ""},
		"the highest numbers":          {removal{simulated: "2"}, "sim-10 sim-9", ""},
		"all of a kind":                {removal{simulated: "all"}, "sim-10 sim-9 big", ""},
		"both kinds, and a name":       {removal{names: []string{"sim-10"}, simulated: "1", process: "1"}, "sim-10 node-2 sim-9", ""},
		"more than there are":          {removal{process: "3"}, "", "cannot remove 3 process nodes: only 2 exist"},
		"one of them is named already": {removal{names: []string{"node-1"}, process: "2"}, "", "only 1 exist"},
	} {
		got, err := c.wanted.pickNodes(nodes)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
	for name, wrong := range map[string]removal{
		"nothing": {}, "no number": {process: "x"}, "none": {simulated: "0"}, "less than none": {process: "-1"}, "an empty name": {names: []string{""}},
	} {
		if wrong.checkArguments() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAMissingNodeDoesNotKeepTheOthers(t *testing.T) {
	var out strings.Builder
	remove := func(_ context.Context, name string) error {
		if strings.HasPrefix(name, "missing") {
			return &usererror.Error{What: name + " does not exist", Hint: "look"}
		}
		return nil
	}
	err := removeNodes(t.Context(), &out, []string{"a", "missing-1", "b", "missing-2"}, remove)
	var human *usererror.Error
	if !errors.As(err, &human) || human.What != "missing-1 does not exist\nmissing-2 does not exist\n" || human.Hint != "look" {
		t.Errorf("got %#v", err)
	}
	if diff := cmp.Diff("node/a removed\nnode/b removed\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestManyNodesAreOneLine(t *testing.T) {
	var out strings.Builder
	var names []string
	for i := range 100 {
		names = append(names, "sim-"+strconv.Itoa(i+1))
	}
	printDone(&out, names, "added")
	printDone(&out, names[:2], "added")
	if diff := cmp.Diff("100 nodes added: sim-1 ... sim-100\nnode/sim-1 added\nnode/sim-2 added\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
