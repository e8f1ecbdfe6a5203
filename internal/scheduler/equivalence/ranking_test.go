package equivalence

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestRankings checks that a ranking that followed changes finds, with and without groups, the same best node of
// each group as an evaluation of every node.
func TestRankings(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c := model.New()
		nodes := rapid.IntRange(1, 40).Draw(t, "nodes")
		for i := range nodes {
			c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%02d", i)).CPU(fmt.Sprint(1 + i%4)).Memory("8Gi").Obj()))
		}
		c.Apply(model.TaskFrom(make.Pod("p").CPU("1").Memory("1Gi").Obj(), true))
		task := c.Task("pod-p")
		var view overlay.Overlay
		judge := Judge{Weights: score.Weights{LeastRequested: 1, Balanced: 1}}
		view.Sync(c)
		judge.Open(&view, c.Resources, c.Shapes)
		groups := rapid.IntRange(1, 5).Draw(t, "groups")
		of := func() (list []int32) {
			for i := range nodes {
				list = append(list, int32(i%min(groups, nodes)))
			}
			return list
		}()
		barred := map[model.NodeID]bool{}
		grouped := &View{Groups: NewGroups(of, min(groups, nodes)), Bars: func(id model.NodeID, _ bool) bool { return barred[id] }}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id := model.NodeID(rapid.IntRange(0, nodes-1).Draw(t, "node"))
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				barred[id] = !barred[id]
				grouped.Stamp++
			case 1:
				view.Rollback(0)
			case 2:
				compareRankings(t, &judge, &view, task, grouped, of, barred)
			default:
				view.AssignIdle(id, task)
			}
		}
		compareRankings(t, &judge, &view, task, grouped, of, barred)
	})
}

func compareRankings(t *rapid.T, j *Judge, o *overlay.Overlay, task *model.Task, v *View, of []int32, barred map[model.NodeID]bool) {
	request := j.Weights.PrepareRequest(j.resources, task.Shape)
	best := nobody(len(v.Groups.ranks))
	all := int32(-1)
	allPoints := unfit
	for rank, id := range o.Order {
		if !o.FitsNow(id, task.Shape.Request) {
			continue
		}
		points := j.Weights.DynamicScore(o, id, &request)
		if points > allPoints {
			all, allPoints = int32(rank), points
		}
		if g := of[rank]; !barred[id] && points > best[g].points {
			best[g] = leader{int32(rank), points}
		}
	}
	id, ok := j.BestNode(task.Shape)
	if ok != (all >= 0) || ok && o.Rank[id] != all {
		t.Fatalf("best is %d (%t), want rank %d", id, ok, all)
	}
	r := j.RankingFor(task.Shape, false, v)
	for g := range r.GroupCount() {
		points, ok := r.TopScore(g)
		if ok != (best[g].points != unfit) || ok && (points != best[g].points || r.FirstTopRank(g) != best[g].rank) {
			t.Fatalf("group %d: %d points (%t), want %+v", g, points, ok, best[g])
		}
	}
}

type leader struct{ rank, points int32 }

// nobody is the set of groups in which no node fits.
func nobody(n int) []leader {
	list := []leader{}
	for range n {
		list = append(list, leader{-1, unfit})
	}
	return list
}
