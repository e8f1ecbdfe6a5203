package podmeasure

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/podusage"
)

// AddSamples adds the samples of a pod's containers. Unknown pods are ignored.
func (t *Tracker) AddSamples(uid types.UID, samples []Sample) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pods[uid]
	if p == nil || p.isOver {
		return
	}
	for _, s := range samples {
		c := p.containers[s.Container]
		if c == nil {
			c = &container{}
			p.containers[s.Container] = c
		}
		c.addSample(s)
	}
}

// RunningNodes returns the sorted names of the nodes with running pods, and the number of these pods.
func (t *Tracker) RunningNodes() (nodes []string, pods int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pods {
		if p.isRunning {
			pods++
			nodes = append(nodes, p.node)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), pods
}

// Write is a use that should be written to the annotation of a pod.
type Write struct {
	Pod types.NamespacedName
	UID types.UID
	Use podusage.Use
}

// retryPause is the time before the use of an ended pod is written again after an error.
const retryPause = 5 * time.Second

// DueWrites returns at most limit uses to write: pods that have ended come first, then the running pods that were
// written longest ago, but at least minInterval ago. It only returns uses that were measured by samples and have
// changed.
func (t *Tracker) DueWrites(now time.Time, minInterval time.Duration, limit int) []Write {
	t.mu.Lock()
	defer t.mu.Unlock()
	var due []*pod
	for _, p := range t.pods {
		pause := minInterval
		if p.isOver {
			pause = retryPause
		}
		isMeasured := len(p.containers) > 0 || p.gpu.measured > 0
		isWritten := !isMeasured || p.use() == p.written
		if isWritten || p.isGone || now.Sub(p.triedAt) < pause {
			continue
		}
		due = append(due, p)
	}
	slices.SortFunc(due, func(a, b *pod) int {
		return cmp.Or(compareOver(a, b), a.triedAt.Compare(b.triedAt), cmp.Compare(a.uid, b.uid))
	})
	var writes []Write
	for _, p := range due[:min(limit, len(due))] {
		p.triedAt = now
		writes = append(writes, Write{Pod: p.name, UID: p.uid, Use: p.use()})
	}
	return writes
}

// compareOver orders pods that have ended before others.
func compareOver(a, b *pod) int {
	switch {
	case a.isOver == b.isOver:
		return 0
	case a.isOver:
		return -1
	}
	return 1
}

// ConfirmWrite stores that the annotation of a pod was written.
func (t *Tracker) ConfirmWrite(w Write) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pods[w.UID]; p != nil {
		p.written = p.written.Max(w.Use)
	}
}
