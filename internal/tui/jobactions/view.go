package jobactions

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/document"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// ViewBindings returns the keys of a list that show the job under the cursor. selected returns this job, or nil.
func ViewBindings(name string, selected func(screenapi.Screen) *snapshot.Job) []screenapi.Binding {
	isSelected := func(_ *screenapi.Context, s screenapi.Screen) string {
		if selected(s) == nil {
			return "no job is selected"
		}
		return ""
	}
	open := func(screen, page string) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return func(_ *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screen, Target: string(selected(s).UID) + page}}
		}
	}
	keys := []screenapi.Binding{
		{Screen: name, Key: "enter", Name: "open", Help: "open the job with its pods, logs and events", Footer: 4, Guard: isSelected, Do: open(screenapi.Job, "")},
		{Screen: name, Key: "w", Name: "why", Help: "show why the job is waiting, its estimated start, and changes that would start it", Footer: 5, Guard: isSelected, Do: open(screenapi.Explain, "")},
		{Screen: name, Key: "l", Name: "logs", Help: "show the logs of the job's pods", Footer: 6, Guard: isSelected, Do: open(screenapi.Job, "#logs")},
		{Screen: name, Key: "s", Name: "shell", Help: "open a shell in the job's first running pod; exit it to return", Footer: 35, Writes: true,
			Guard: func(_ *screenapi.Context, s screenapi.Screen) string {
				job := selected(s)
				switch {
				case job == nil:
					return "no job is selected"
				case firstRunningPod(job) == nil:
					return "no pod of " + job.Name + " is running"
				}
				return ""
			},
			Do: func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
				return []screenapi.Effect{widget.OpenShell(ctx.Actions, firstRunningPod(selected(s)))}
			}},
	}
	return append(keys, document.OpenBindings(name, func(s screenapi.Screen) (kind, namespace, object string) {
		if job := selected(s); job != nil {
			return "Job", job.Namespace, job.Name
		}
		return "", "", ""
	})...)
}

// TreeBinding returns the key of a list that shows the job under the cursor as a tree. selected returns this job, or nil.
func TreeBinding(name string, selected func(screenapi.Screen) *snapshot.Job) screenapi.Binding {
	return screenapi.Binding{
		Screen: name, Key: "t", Name: "tree", Help: "show the job, its PodGroup, tasks and pods as a tree", Footer: 38,
		Guard: func(_ *screenapi.Context, s screenapi.Screen) string {
			if selected(s) == nil {
				return "no job is selected"
			}
			return ""
		},
		Do: func(_ *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Tree, Target: string(selected(s).UID)}}
		},
	}
}

// firstRunningPod returns the first pod of a job in which a shell can run, or nil.
func firstRunningPod(job *snapshot.Job) *snapshot.Pod {
	for _, pod := range job.Pods {
		if !pod.Exited && !pod.Started.IsZero() {
			return pod
		}
	}
	return nil
}
