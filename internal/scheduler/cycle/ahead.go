package cycle

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// maxInside is the number of gangs that a queue admits before there are free resources for them: its head and the
// gangs directly behind it. Gangs that can never start do not count. The limit does not apply to gangs that can start
// now, which AdmitCandidates admits.
const maxInside = 16

// MayAdmitAhead reports whether a gang may be admitted although its queue has no free capacity for it now. If run
// times are known, the first gangs of a queue are admitted early, so that their pods exist and resources can be
// reserved for them. Behind the first gang, only gangs with a known run time are admitted early.
func (s *Cycle) MayAdmitAhead(j *framework.Job, v reason.Code) bool {
	if !waitsForCapacity(v) || !s.UsesReservations() || len(s.KnownEndings()) == 0 {
		return false
	}
	if (!reservation.AllowsBackfill(j.In) && !j.In.Fifo) || exceedsCapability(j.MinResources, j.In) {
		return false
	}
	in := s.findInsiders(j.In)
	return in.mayAdmit(s, j) && (j.Estimate > 0 || in.precedesAll(s, j))
}

// RecordAdmitted counts a gang that was admitted in this cycle among the insiders of its queue.
func (s *Cycle) RecordAdmitted(j *framework.Job) {
	if s.insides != nil && !j.IsSatisfied() {
		s.insidersOf(j.In).addAdmitted(s, j)
	}
}

// findInsiders returns the gangs that are admitted to a queue and are waiting for their minimum. It counts them once;
// RecordAdmitted adds those that are admitted later in the cycle.
func (s *Cycle) findInsiders(q *queue.Queue) *insiders {
	if s.insides == nil {
		s.insides = map[*queue.Queue]*insiders{}
		for _, j := range s.AllWaiting {
			if j != nil && j.IsAdmitted() && !j.IsSatisfied() {
				s.insidersOf(j.In).waiting = append(s.insidersOf(j.In).waiting, j)
			}
		}
	}
	return s.insidersOf(q)
}

func (s *Cycle) insidersOf(q *queue.Queue) *insiders {
	in := s.insides[q]
	if in == nil {
		in = &insiders{}
		s.insides[q] = in
	}
	return in
}

// mayAdmit reports whether a gang is among the first maxInside gangs of its queue that could start, so that it may be
// admitted before there is free capacity for it. A gang that later turns out not to be among the first stays
// admitted, but the number of such gangs is bounded: at most maxInside gangs of any size, and others with at most
// maxMisjudged pods together.
func (in *insiders) mayAdmit(s *Cycle, j *framework.Job) bool {
	if len(in.waiting) < maxInside {
		return true
	}
	in.findFirst(s)
	if in.countOtherPods() > maxMisjudged {
		return false
	}
	return len(in.first) < maxInside || s.Rules.CompareJobs(j, in.first[maxInside-1]) < 0
}

// countOtherPods returns the number of pending pods of the gangs that are not among the first. It does not count the
// pods of the maxInside largest of these gangs.
func (in *insiders) countOtherPods() int {
	if !in.summed {
		in.misjudged, in.summed = sumBeyondLargest(in.others), true
	}
	return in.misjudged
}

// sumBeyondLargest returns the sum of the numbers except the maxInside largest.
func sumBeyondLargest(pods []int) (sum int) {
	slices.SortFunc(pods, func(a, b int) int { return cmp.Compare(b, a) })
	for _, n := range pods[min(maxInside, len(pods)):] {
		sum += n
	}
	return sum
}

// precedesAll reports whether a gang comes before all other gangs of the queue that could start.
func (in *insiders) precedesAll(s *Cycle, j *framework.Job) bool {
	if len(in.waiting) == 0 {
		return true
	}
	in.findFirst(s)
	return len(in.first) == 0 || s.Rules.CompareJobs(j, in.first[0]) < 0
}

// findFirst finds the first gangs that could start, because only they can block the queue.
func (in *insiders) findFirst(s *Cycle) {
	if in.judged {
		return
	}
	in.judged = true
	s.SortQueue(in.waiting)
	rest := in.waiting
	for len(in.first) < maxInside && len(rest) > 0 {
		next := rest[:min(maxInside-len(in.first), len(rest))]
		rest = rest[len(next):]
		s.judgeCouldStart(next)
		for _, j := range next {
			if s.could[j] {
				in.first = append(in.first, j)
			} else {
				in.addOther(j)
			}
		}
	}
	for _, j := range rest {
		in.addOther(j)
	}
}

func (in *insiders) addOther(j *framework.Job) {
	if j.HasMinResources { // gangs without minResources are admitted independently of free capacity
		in.others, in.summed = append(in.others, len(j.Pending)), false
	}
}

// addAdmitted records that a gang has been admitted.
func (in *insiders) addAdmitted(s *Cycle, j *framework.Job) {
	in.waiting = append(in.waiting, j)
	if !in.judged {
		return
	}
	at, _ := slices.BinarySearchFunc(in.first, j, s.Rules.CompareJobs)
	in.first = slices.Insert(in.first, at, j)
	if len(in.first) > maxInside {
		in.addOther(in.first[maxInside])
		in.first = in.first[:maxInside]
	}
}

// WakeAdmissionHeads looks at the first gang of each queue that is waiting for admission. If that gang is parked and
// could be admitted ahead, WakeAdmissionHeads makes it ready again.
func (s *Cycle) WakeAdmissionHeads() {
	if !s.UsesReservations() {
		return
	}
	first := map[*queue.Queue]*framework.Job{}
	for _, j := range s.AllWaiting {
		if j.IsAdmitted() || !j.HasMinResources || !j.In.AcceptsGangs() {
			continue
		}
		if j.Parked && j.IsAccountBound() {
			continue
		}
		if head := first[j.In]; head == nil || s.Rules.CompareJobs(j, head) < 0 {
			first[j.In] = j
		}
	}
	for _, q := range s.Ledger.Queues {
		if j := first[q]; j != nil && j.Parked && s.findInsiders(q).mayAdmit(s, j) {
			j.Parked = false
			s.RefreshQueue(j)
			s.Ready = append(s.Ready, j)
		}
	}
}

// maxMisjudged bounds, for each queue, the number of pending pods in gangs that were admitted to pass the head but
// did not start. The maxInside largest of these gangs are not counted.
const maxMisjudged = 1000

// waitsForCapacity reports whether a gang is not admitted because other gangs use or reserve the resources.
func waitsForCapacity(code reason.Code) bool { return reason.Get(code).Has(reason.OthersHoldQueue) }
