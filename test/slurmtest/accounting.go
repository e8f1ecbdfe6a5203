package slurmtest

import (
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// WithAccounting adds an accounting database to the cluster of a run.
func WithAccounting(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		AddAccounting(server)
	}
	return r
}

// AddAccounting makes a server answer queries of the accounting database. It has recorded job 31, which was deleted, and
// usage of two accounts. Conditions of queries are ignored.
func AddAccounting(server *clitest.Server) {
	server.HandlePath(wire.RecordsPath, answerLines(func(to *wire.Writer) error {
		records, err := extract.Records(extract.Input{Cluster: "test", Job: deletedJob(), Pods: []*corev1.Pod{deletedPod()}}, 0)
		for i := range records {
			if err == nil {
				err = to.WriteRecord(&records[i])
			}
		}
		return err
	}))
	server.HandlePath(wire.UsagePath, answerLines(func(to *wire.Writer) error {
		for _, usage := range []accounting.Usage{
			{Cluster: "test", Account: "nlp-a", User: "mei", Resource: accounting.CPU, Seconds: 7_200_000},
			{Cluster: "test", Account: "nlp-a", User: "omar", Resource: accounting.CPU, Seconds: 1_230_000},
			{Cluster: "test", Account: "vision", User: "mei", Resource: accounting.CPU, Seconds: 90_000},
		} {
			if err := to.WriteUsage(&usage); err != nil {
				return err
			}
		}
		return nil
	}))
}

// answerLines returns a handler that answers each query with the same lines.
func answerLines(write func(*wire.Writer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", wire.ContentType)
		to := wire.NewWriter(w)
		err := write(to)
		if err == nil {
			err = to.WriteEnd()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

// deletedJob returns a job that has ended and no longer exists in the cluster.
func deletedJob() *batchv1alpha1.Job {
	return NewJob(31, "older.sh", "mei", "research", batchv1alpha1.Completed, 4*time.Hour, func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = golden.NewResources("cpu", "4", "memory", "2Gi")
		j.Spec.MinAvailable = 1
	})
}

func deletedPod() *corev1.Pod {
	return NewPod(deletedJob(), "head", 0, "r05n01", corev1.PodSucceeded, WithExit(0, "Completed", ""), func(p *corev1.Pod) {
		use := podusage.Use{CPUMilliseconds: 25 * 60 * 1000, PeakMemoryBytes: 1 << 30}
		p.Annotations = map[string]string{keys.Used: use.Encode()}
	})
}
