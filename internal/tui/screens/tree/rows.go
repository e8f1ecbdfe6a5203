package tree

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// row is one line of the tree.
type row struct {
	id string
	// kind is the kind of the API object; "" for a task, which is part of its job.
	kind, namespace, name string
	title                 string
	state                 string
	style                 canvas.Style
	message               string
	created               time.Time
	pod                   *snapshot.Pod // nil if the row is not a pod
	// parent is the row above in the tree; nil for the root.
	parent *row
	// last has an entry for each level from the root: whether the row at this level is the last child of its parent.
	last []bool
	// children is the number of rows directly below, including hidden ones. isFolded is true if they are hidden.
	children int
	isFolded bool
}

// isFoldable reports whether rows are below this one.
func (r *row) isFoldable() bool { return r.children > 0 }

// rowsOfJob returns the rows of a job in tree order.
func rowsOfJob(ctx *screenapi.Context, job *snapshot.Job) []*row {
	var rows []*row
	add := func(parent *row, r row) *row {
		r.parent = parent
		if parent != nil {
			parent.children++
		}
		rows = append(rows, &r)
		return &r
	}
	above := (*row)(nil)
	if owner := metav1.GetControllerOfNoCopy(job.Object); owner != nil {
		above = add(nil, row{id: string(owner.UID), kind: owner.Kind, namespace: job.Namespace, name: owner.Name, title: owner.Kind + " " + owner.Name})
	}
	above = add(above, jobTreeRow(ctx, job))
	if job.Group != nil {
		above = add(above, groupTreeRow(job))
	}
	tasks := map[string]*row{}
	for i := range job.Object.Spec.Tasks {
		name := job.Object.Spec.Tasks[i].Name
		tasks[name] = add(above, row{id: "task " + name, title: "task " + name, message: describeTask(job, name, job.Object.Spec.Tasks[i].Replicas)})
	}
	byTask := map[*row][]*row{}
	for _, p := range job.Pods {
		task := tasks[p.Task]
		if task == nil {
			task = above
		}
		byTask[task] = append(byTask[task], &row{
			id: string(p.UID), kind: "Pod", namespace: p.Namespace, name: p.Name, title: p.Name, state: p.State, style: jobrow.PodStyle(p), message: podMessage(p), created: p.Created.Time(), pod: p, parent: task,
		})
		task.children++
	}
	return withBranches(insertBelow(rows, byTask))
}

// insertBelow inserts rows directly below their parents.
func insertBelow(rows []*row, children map[*row][]*row) []*row {
	var all []*row
	for _, r := range rows {
		all = append(append(all, r), children[r]...)
	}
	return all
}

// withBranches determines which rows are the last child of their parent.
func withBranches(rows []*row) []*row {
	lastChild := map[*row]*row{}
	for _, r := range rows {
		lastChild[r.parent] = r
	}
	for _, r := range rows {
		if r.parent != nil {
			r.last = append(append([]bool(nil), r.parent.last...), lastChild[r.parent] == r)
		} else {
			r.last = []bool{true}
		}
	}
	return rows
}

func jobTreeRow(ctx *screenapi.Context, job *snapshot.Job) row {
	return row{
		id: string(job.UID), kind: "Job", namespace: job.Namespace, name: job.Name, title: "Job " + job.Name, state: jobrow.Row{Job: job}.StateText(ctx.Words), style: jobrow.StateStyle(job.State),
		message: cmp.Or(job.ReasonNotRunning().CodeAndMessage(), fmt.Sprintf("queue %s, %d of %d pods running", job.Queue, job.Running, job.Replicas)), created: job.Submitted,
	}
}

func groupTreeRow(job *snapshot.Job) row {
	group := job.Group
	message := fmt.Sprintf("at least %d of %d pods must run at the same time", group.Spec.MinMember, job.Replicas)
	if job.Position > 0 {
		message += fmt.Sprintf("; position %d in queue %s", job.Position, job.Queue)
	}
	return row{
		id: string(group.UID), kind: "PodGroup", namespace: group.Namespace, name: group.Name, title: "PodGroup " + group.Name, state: string(group.Status.Phase), style: theme.Plain,
		message: message, created: group.CreationTimestamp.Time,
	}
}

// describeTask counts the pods of a task by state, for example "8 of 16 running, 1 failed".
func describeTask(job *snapshot.Job, name string, replicas int32) string {
	var running, failed, succeeded int
	for _, p := range job.Pods {
		switch {
		case p.Task != name:
		case p.Phase == "Failed":
			failed++
		case p.Phase == "Succeeded":
			succeeded++
		case p.Phase == "Running":
			running++
		}
	}
	text := fmt.Sprintf("%d of %d running", running, replicas)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	if succeeded > 0 {
		text += fmt.Sprintf(", %d succeeded", succeeded)
	}
	return text
}

// podMessage returns the pod's problem, or the message about its end with its exit code.
func podMessage(p *snapshot.Pod) string {
	switch {
	case p.Exited && p.ExitCode != 0:
		return strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", p.ExitCode, p.Message), ": ")
	case p.Trouble != "" && p.Trouble != p.State:
		return strings.TrimSuffix(p.Trouble+": "+p.Message, ": ")
	}
	return p.Message
}
