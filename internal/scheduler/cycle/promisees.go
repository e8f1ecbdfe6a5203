package cycle

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// maxPromisees bounds how many gangs with promised resources are named to a gang that is waiting for these resources.
const maxPromisees = 3

// NamePromisees adds to the verdict the gangs whose promised resources block the admission of a gang.
func (s *Cycle) NamePromisees(v *explain.Verdict) {
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

// ForgetPromisees drops the cached gangs. It is called when a gang was admitted.
func (s *Cycle) ForgetPromisees() { s.promised = nil }

func (s *Cycle) findPromisees(of promisedTo) (found promisees) {
	index, ok := s.Cluster.Resources.Find(of.resource)
	if !ok {
		return found
	}
	for _, j := range s.AllWaiting {
		if !s.hasPromiseOf(j, index) || (of.queue != "" && !j.IsUnderQueue(of.queue)) {
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

// hasPromiseOf reports whether a gang has been promised an amount of a resource.
func (s *Cycle) hasPromiseOf(j *framework.Job, index int) bool {
	if !j.IsAdmitted() {
		return false
	}
	if j.Status.Phase != j.Phase { // admitted in this cycle
		return j.MinResources.Get(index) > 0
	}
	return j.Sums.Inqueue.Get(index) > 0 && (!j.HoldsPromise() || s.CouldStart(j))
}
