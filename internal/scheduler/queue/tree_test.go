package queue

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/test/make"
)

// open returns a ledger of queues given as name:parent.
func open(queues ...string) (*Ledger, map[string]*Queue) {
	c := model.New()
	for _, q := range queues {
		name, parent, _ := strings.Cut(q, ":")
		c.Apply(model.QueueFrom(make.Queue(name).Parent(parent).Obj()))
	}
	l := &Ledger{}
	l.Open(c)
	byName := map[string]*Queue{}
	for _, q := range l.Queues {
		byName[q.Name] = q
	}
	return l, byName
}

func TestWhereQueuesPart(t *testing.T) {
	_, q := open("root", "a:root", "a1:a", "a2:a", "a11:a1", "b", "lonely:gone")
	for name, c := range map[string]struct {
		left, right, x, y string
		common            int
	}{
		"sisters":              {"a1", "a2", "a1", "a2", 1},
		"aunt and niece":       {"a11", "a2", "a1", "a2", 1},
		"of different branch":  {"a11", "b", "a", "b", 0},
		"one within the other": {"a", "a11", "a", "a", 1},
		"the same":             {"b", "b", "b", "b", 1},
		"no common ancestor":   {"a1", "lonely", "root", "lonely", -1},
	} {
		t.Run(name, func(t *testing.T) {
			x, y := DivergingAncestors(q[c.left], q[c.right])
			if x.Name != c.x || y.Name != c.y {
				t.Errorf("part at %s and %s, want %s and %s", x.Name, y.Name, c.x, c.y)
			}
			if got := CommonLevel(q[c.left], q[c.right]); got != c.common {
				t.Errorf("common level %d, want %d", got, c.common)
			}
		})
	}
}

func TestAWrongPlaceIsAFaultOfThoseBelowOnly(t *testing.T) {
	l, q := open("root", "fine", "orphan:gone", "child:orphan", "x:y", "y:x", "self:self", "under:self")
	for name, want := range map[string]string{
		"fine": "", "root": "", "orphan": "gone does not exist", "child": "ancestor queue orphan", "x": "x → y → x", "self": "self → self", "under": "ancestor queue self",
	} {
		if got := q[name].Fault; got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("fault of %s: %q, want %q", name, got, want)
		}
	}
	if len(l.TopDown) != len(l.Queues) || q["fine"].Parent != q["root"] || len(q["root"].Children) != 1 {
		t.Errorf("the others hang wrong: %d of %d, root has %d", len(l.TopDown), len(l.Queues), len(q["root"].Children))
	}
}

func TestWhatIsHeldCountsInAllAncestors(t *testing.T) {
	_, q := open("root", "a:root", "a1:a", "b")
	ask := resource.Request{{Index: resource.CPU, Value: 1000}}
	q["a1"].AddAllocated(ask, 1)
	q["a"].AddAllocated(ask, 1)
	q["a1"].AddInqueue(ask, 1)
	for name, want := range map[string][3]float64{"a1": {1000, 1000, 1000}, "a": {2000, 1000, 1000}, "root": {2000, 0, 1000}, "b": {0, 0, 0}} {
		if got := [3]float64{q[name].Allocated[0], q[name].Own.Allocated[0], q[name].Inqueue[0]}; got != want {
			t.Errorf("%s holds %v (all, own, promised), want %v", name, got, want)
		}
	}
}
