package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
)

// maxPromisees bounds the gangs that are named to one that waits for what they were promised.
const maxPromisees = 3

// promisedTo is a limit for whose promises gangs are named.
type promisedTo struct {
	queue    string // "": the whole cluster
	resource string
}

// promisees are the gangs that promises count for.
type promisees struct {
	first []*Job // of their turn
	more  int
}

// NamePromisees tells a gang that waits outside its queue whose promises are in its way.
func (s *Session) NamePromisees(v *explain.Verdict) {
	if v.Limit == nil || v.Limit.Promised <= 0 {
		return
	}
	of := promisedTo{v.Limit.Queue, v.Limit.Resource}
	if v.Code == reason.Overcommitted {
		of.queue = ""
	}
	found, known := s.promised[of]
	if !known {
		found = s.findPromisees(of)
		if s.promised == nil {
			s.promised = map[promisedTo]promisees{}
		}
		s.promised[of] = found
	}
	v.Limit.Promisees, v.Limit.MorePromisees = nil, found.more
	for _, j := range found.first {
		v.Limit.Promisees = append(v.Limit.Promisees, j.Title())
	}
}

// ForgetPromisees has them found again: a gang was let in.
func (s *Session) ForgetPromisees() { s.promised = nil }

func (s *Session) findPromisees(of promisedTo) (found promisees) {
	index, ok := s.Cluster.Resources.Find(of.resource)
	if !ok {
		return found
	}
	for _, j := range s.AllWaiting {
		if !s.promisedSome(j, index) || of.queue != "" && !j.under(of.queue) {
			continue
		}
		at, _ := slices.BinarySearchFunc(found.first, j, s.Rules.CompareJobs)
		if at < maxPromisees {
			found.first = slices.Insert(found.first, at, j)
		}
		if len(found.first) > maxPromisees {
			found.first = found.first[:maxPromisees]
			found.more++
		} else if at >= maxPromisees {
			found.more++
		}
	}
	return found
}

// promisedSome says whether a promise of a resource counts for a gang.
func (s *Session) promisedSome(j *Job, index int) bool {
	if j.LetIn() && j.Status.Phase != j.Phase { // in this cycle
		return j.MinResources.Get(index) > 0
	}
	return j.LetIn() && j.Sums.Inqueue.Get(index) > 0 && (!j.holdsPromise() || s.CouldStart(j))
}

// under says whether the gang's queue is one of a name, or below it.
func (j *Job) under(name string) bool {
	for q := j.In; q != nil; q = q.Parent {
		if q.Name == name {
			return true
		}
	}
	return false
}
