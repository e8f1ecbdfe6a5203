package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/local/simnode"
	"github.com/vc-batch/vc/test/bench/figures"
)

// TestThroughputWithAccounting measures how much accounting slows down scheduling. Rounds with and without it alternate,
// and each pair of rounds gives a share. Pods run for a short time, so that jobs end and are recorded while others
// are scheduled.
func TestThroughputWithAccounting(t *testing.T) {
	s := shapes(t)[0]
	if wanted := os.Getenv("VC_BENCH"); wanted == "1" || wanted == "all" {
		s = shape{jobs: 250, pods: 20}
	}
	r := startBare(t, 1000)
	database := filepath.Join(t.TempDir(), "records")
	var shares, cpuShares []float64
	for pair := range moreRounds() {
		var with, without accountedRound
		for i := range 2 {
			namespace := fmt.Sprintf("accounted-%d-%d", pair, i)
			if (pair+i)%2 == 0 { // every other pair begins with accounting
				with = r.accountedRound(t, namespace, s, "--accounting-store=sqlite:"+database, "--record-jobs")
			} else {
				without = r.accountedRound(t, namespace, s)
			}
		}
		shares = append(shares, float64(without.took)/float64(with.took))
		cpuShares = append(cpuShares, float64(without.cpu)/float64(with.cpu))
		t.Logf("pair %d: %s with accounting, %s without, share %.3f; processor time %s and %s, share %.3f", pair,
			short(with.took), short(without.took), shares[pair], short(with.cpu), short(without.cpu), cpuShares[pair])
	}
	requireRecords(t, database, s.jobs*moreRounds())
	take(t, figures.WithAccounting+figures.InProcessorTime, len(r.nodes), cpuShares...)
	take(t, figures.WithAccounting, len(r.nodes), shares...)
}

// accountedRound is the measurement of a round: the time from the submission of jobs to the last bind, and the processor
// time of all processes in it.
type accountedRound struct{ took, cpu time.Duration }

// accountedRound runs a daemon with some flags for one round.
func (r *rig) accountedRound(t *testing.T, namespace string, s shape, flags ...string) accountedRound {
	t.Helper()
	daemon := r.startVCD(t, append([]string{"all", "--webhook-listen-address", "127.0.0.1:0"}, flags...)...)
	defer daemon.stop(t)
	makeNamespace(t, r.core, namespace)
	quiet(t, daemon)
	annotations := map[string]string{simnode.AnnotationStartDelay: "1ms", simnode.AnnotationRunTime: "500ms"}
	cpu, began := cpuOf(t, daemon), time.Now()
	inParallel(t, s.jobs, func(ctx context.Context, i int) error {
		return r.ours.Create(ctx, newJob(namespace, fmt.Sprintf("job-%d", i), s.pods, annotations))
	})
	last := counts{}
	eventually(t, 5*time.Minute, fmt.Sprintf("all %d pods of %s are bound", s.all(), namespace), func() bool {
		if now := r.pods.count(namespace); now.bound != last.bound && now.bound%500 == 0 {
			t.Logf("%s: %d pods exist, %d are bound", namespace, now.exist, now.bound)
			last = now
		}
		return r.pods.count(namespace).bound == s.all()
	})
	round := accountedRound{took: r.pods.count(namespace).lastBound.Sub(began), cpu: cpuOf(t, daemon) - cpu}
	eventually(t, 5*time.Minute, "all jobs of "+namespace+" have ended", func() bool {
		var jobs batchv1alpha1.JobList
		if err := r.ours.List(t.Context(), &jobs, inNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		ended := 0
		for i := range jobs.Items {
			if jobs.Items[i].Status.State.Phase == batchv1alpha1.Completed {
				ended++
			}
		}
		return ended == s.jobs
	})
	r.removeJobs(t, namespace)
	quiet(t, daemon)
	return round
}

// requireRecords checks that a database has the records of all jobs.
func requireRecords(t *testing.T, directory string, want int) {
	t.Helper()
	s, err := store.OpenForReading(t.Context(), "sqlite:"+directory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	count := 0
	for _, err := range s.Records(t.Context(), accounting.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != want {
		t.Errorf("the database has %d records, want %d", count, want)
	}
}
