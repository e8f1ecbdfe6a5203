package slurmtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
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

// AddAccounting makes a server answer queries of the accounting database. It has recorded job 31, which was deleted,
// job 32, which was restarted and deleted, and use of two accounts on the days before the tests. Users may read the use of all users.
func AddAccounting(server *clitest.Server) {
	server.OnCreate("SelfSubjectAccessReview", func(review map[string]any) { review["status"] = map[string]any{"allowed": true} })
	server.HandlePath(wire.RecordsPath, answerLines(func(r *http.Request, to *wire.Writer) error {
		records, err := extract.Records(extract.Input{Cluster: "test", Job: deletedJob(), Pods: []*corev1.Pod{deletedPod()}}, 0)
		if err != nil {
			return err
		}
		restarted, err := restartedRecords()
		records = append(records, restarted...)
		var query accounting.Query
		if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
			return err
		}
		for i := range records {
			if err == nil && selectsRecord(query, &records[i]) {
				err = to.WriteRecord(&records[i])
			}
		}
		return err
	}))
	server.HandlePath(wire.UsagePath, answerLines(func(r *http.Request, to *wire.Writer) error {
		var query accounting.UsageQuery
		if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
			return err
		}
		for _, usage := range answerUsage(query) {
			if err := to.WriteUsage(&usage); err != nil {
				return err
			}
		}
		return nil
	}))
	server.HandlePath(wire.CapacityPath, answerLines(func(r *http.Request, to *wire.Writer) error {
		var query accounting.CapacityQuery
		if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
			return err
		}
		for _, capacity := range accounting.SumCapacity(nodeChanges(), query) {
			if err := to.WriteCapacity(&capacity); err != nil {
				return err
			}
		}
		return nil
	}))
	server.HandlePath(wire.EventsPath, answerLines(func(r *http.Request, to *wire.Writer) error {
		var query accounting.NodeEventQuery
		if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
			return err
		}
		events := accounting.NodeEvents(nodeChanges(), query)
		for i := range events {
			if err := to.WriteEvent(&events[i]); err != nil {
				return err
			}
		}
		return nil
	}))
	server.HandlePath(wire.TransactionsPath, answerLines(func(r *http.Request, to *wire.Writer) error {
		var query accounting.ChangeQuery
		if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
			return err
		}
		for i := range changes {
			if !query.Selects(&changes[i]) {
				continue
			}
			if err := to.WriteChange(&changes[i]); err != nil {
				return err
			}
		}
		return nil
	}))
}

// nodeChanges returns the changes of two nodes with 8 CPUs each. One of them was down for two hours yesterday.
func nodeChanges() []accounting.NodeChange {
	change := func(node string, at time.Time, state accounting.NodeState) accounting.NodeChange {
		capacity := accounting.Resources{accounting.CPU: 8_000, accounting.Memory: 65_536, accounting.Nodes: 1, "nvidia.com/gpu": 8}
		return accounting.NodeChange{Cluster: "test", Node: node, Time: at, State: state, Capacity: capacity}
	}
	down := change("gpu-2", yesterday, accounting.NodeDown)
	down.Reason = "NodeStatusUnknown"
	return []accounting.NodeChange{
		change("gpu-1", yesterday.AddDate(0, -1, 0), accounting.NodeUp),
		change("gpu-2", yesterday.AddDate(0, -1, 0), accounting.NodeUp),
		down,
		change("gpu-2", yesterday.Add(2*time.Hour), accounting.NodeUp),
	}
}

// use is the use of the accounting database. waiting is the time for which jobs waited for it.
var (
	use = []accounting.Usage{
		{Cluster: "test", Account: "nlp-a", User: "mei", Queue: "nlp", Namespace: "nlp", QOS: "normal", MilliCPUs: 4000, Resource: accounting.CPU, Seconds: 7_200_000, Attempts: 2, Time: yesterday},
		{Cluster: "test", Account: "nlp-a", User: "omar", Queue: "nlp", Namespace: "nlp", QOS: "high", MilliCPUs: 64_000, Resource: accounting.CPU, Seconds: 1_230_000, Attempts: 1, Time: yesterday},
		{Cluster: "test", Account: "vision", User: "mei", Queue: "research", Namespace: "default", QOS: "normal", MilliCPUs: 500, Resource: accounting.CPU, Seconds: 90_000, Attempts: 7, Time: yesterday},
		{Cluster: "test", Account: "vision", User: "mei", Queue: "research", Namespace: "default", QOS: "normal", MilliCPUs: 500, Resource: accounting.Nodes, Seconds: 180, Attempts: 7, Time: yesterday},
		{Cluster: "test", Account: "nlp-a", User: "mei", Queue: "nlp", Namespace: "nlp", QOS: "normal", MilliCPUs: 4000, Resource: accounting.Nodes, Seconds: 1800, Attempts: 2, Time: yesterday},
		{Cluster: "test", Account: "nlp-a", User: "omar", Queue: "nlp", Namespace: "nlp", QOS: "high", MilliCPUs: 64_000, Resource: accounting.Nodes, Seconds: 20, Attempts: 1, Time: yesterday},
		{Cluster: "test", Account: "nlp-a", User: "mei", Queue: "nlp", Namespace: "nlp", QOS: "normal", MilliCPUs: 4000, Resource: "nvidia.com/gpu", Seconds: 14_400, Attempts: 2, Time: yesterday},
		{Cluster: "test", Account: "nlp-a", User: "mei", Queue: "nlp", Namespace: "nlp", QOS: "normal", MilliCPUs: 8000, Resource: accounting.CPU, Seconds: 3_600_000, Attempts: 1, Time: yesterday.AddDate(0, 0, -3)},
	}
	waiting = []accounting.Usage{
		{Cluster: "test", Account: "nlp-a", User: "mei", Queue: "nlp", Namespace: "nlp", QOS: "normal", MilliCPUs: 4000, Resource: accounting.CPU, Seconds: 2_400_000, Attempts: 2, Time: yesterday},
	}
	changes = []accounting.Change{
		{ID: "1", Cluster: "test", Time: yesterday, Actor: "ada", Action: accounting.AddAccount, Account: "nlp-a", Users: []string{"mei"}, Info: "shares=3 users[mei]=listed"},
		{ID: "2", Cluster: "test", Time: yesterday.Add(time.Hour), Actor: "ben", Action: accounting.ModifyAccount, Account: "vision", Info: "limits.maxRunningJobs=10->20"},
		{ID: "4", Cluster: "test", Time: yesterday.Add(3 * time.Hour), Actor: "ben", Action: accounting.ModifyQOS, QOS: "high", Info: "limits.maxRunningJobs=2->4"},
		{ID: "3", Cluster: "test", Time: yesterday.Add(2 * time.Hour), Actor: "ada", Action: accounting.RemoveAccount, Account: "nlp-a", Users: []string{"mei"}, Info: "shares=3->none users[mei]=listed->none"},
	}
	yesterday = golden.Now.Truncate(24 * time.Hour).Add(-14 * time.Hour)
)

// answerUsage returns the selected use in the order of a database.
func answerUsage(query accounting.UsageQuery) []accounting.Usage {
	from := use
	if query.Waiting {
		from = waiting
	}
	total := map[accounting.Usage]accounting.Usage{}
	for _, u := range from {
		isOutside := u.Time.Before(query.From) || (!query.To.IsZero() && !u.Time.Before(query.To))
		if isOutside || !selectsUsage(query, u) {
			continue
		}
		key := projectUsage(query, u)
		sum := total[key]
		sum.Seconds, sum.Attempts = sum.Seconds+u.Seconds, sum.Attempts+u.Attempts
		total[key] = sum
	}
	answer := make([]accounting.Usage, 0, len(total))
	for key, sum := range total {
		key.Seconds, key.Attempts = sum.Seconds, sum.Attempts
		answer = append(answer, key)
	}
	slices.SortFunc(answer, func(a, b accounting.Usage) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return answer
}

// selectsRecord reports whether a query selects a record. LatestOnly selects the records of jobs with documents.
func selectsRecord(query accounting.Query, r *accounting.Record) bool {
	isOutside := r.Ended.Before(query.From) || (!query.To.IsZero() && !r.Submitted.Before(query.To))
	isEarlier := query.LatestOnly && len(r.Document) == 0
	conditions := []bool{
		!isOutside,
		!isEarlier,
		contains(query.Users, r.User),
		contains(query.Namespaces, r.Namespace),
		contains(query.Names, r.Name),
		contains(query.JobIDs, r.JobID),
		contains(query.Outcomes, r.Outcome),
		contains(query.Queues, r.Queue),
		contains(query.Accounts, r.Account),
	}
	return !slices.Contains(conditions, false)
}

// contains reports whether a list is empty or has a value.
func contains[T comparable](list []T, value T) bool {
	return len(list) == 0 || slices.Contains(list, value)
}

func selectsUsage(query accounting.UsageQuery, u accounting.Usage) bool {
	conditions := []bool{
		contains(query.Clusters, u.Cluster),
		contains(query.Users, u.User),
		contains(query.Accounts, u.Account),
		contains(query.Queues, u.Queue),
		contains(query.QOS, u.QOS),
		contains(query.Namespaces, u.Namespace),
		contains(query.Resources, u.Resource),
	}
	return !slices.Contains(conditions, false)
}

// projectUsage returns the fields that a query distinguishes.
func projectUsage(query accounting.UsageQuery, u accounting.Usage) accounting.Usage {
	key := accounting.Usage{Resource: u.Resource}
	for _, by := range query.By {
		switch by {
		case accounting.ByCluster:
			key.Cluster = u.Cluster
		case accounting.ByAccount:
			key.Account = u.Account
		case accounting.ByUser:
			key.User = u.User
		case accounting.ByQueue:
			key.Queue = u.Queue
		case accounting.ByQOS:
			key.QOS = u.QOS
		case accounting.ByNamespace:
			key.Namespace = u.Namespace
		case accounting.BySize:
			key.MilliCPUs = u.MilliCPUs
		case accounting.ByTime:
			key.Time = query.Step.Start(u.Time)
		}
	}
	return key
}

// answerLines returns a handler that answers each query with lines.
func answerLines(write func(*http.Request, *wire.Writer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ContentType)
		to := wire.NewWriter(w)
		err := write(r, to)
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
		j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = golden.NewResources("cpu", "4", "memory", "2Gi", "nvidia.com/gpu", "1")
		j.Spec.MinAvailable = 1
	})
}

// RestartedJob returns a job that has ended and was restarted three times: after the loss of a node, by a policy after a
// failure, and by its user.
func RestartedJob() *batchv1alpha1.Job {
	return NewJob(32, "again.sh", "mei", "research", batchv1alpha1.Completed, 3*time.Hour, func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = golden.NewResources("cpu", "2", "memory", "1Gi")
		j.Spec.MinAvailable = 1
		j.Status.RetryCount, j.Status.UserRestarts = 2, 1
		killed := int32(137)
		attempt := func(number int32, began, ended time.Duration, failure *batchv1alpha1.JobFailure, nodes ...string) batchv1alpha1.JobAttempt {
			start := golden.TimeAgo(began)
			return batchv1alpha1.JobAttempt{Number: number, StartTime: &start, EndTime: golden.TimeAgo(ended), Phase: batchv1alpha1.Restarting, Failure: failure, Nodes: nodes}
		}
		j.Status.Attempts = []batchv1alpha1.JobAttempt{
			attempt(0, 170*time.Minute, 160*time.Minute, &batchv1alpha1.JobFailure{Reason: string(reason.NodeStopped)}, "r05n01", "r05n02"),
			attempt(1, 150*time.Minute, 130*time.Minute, &batchv1alpha1.JobFailure{Reason: "NonZeroExitCode", ExitCode: &killed}, "r05n03"),
			attempt(2, 120*time.Minute, 90*time.Minute, nil, "r05n03"),
		}
	})
}

// restartedRecords returns the records of the restarted job. As for a job with many restarts, its last status does not
// contain the first attempt any more.
func restartedRecords() ([]accounting.Record, error) {
	job := RestartedJob()
	records, err := extract.Records(extract.Input{Cluster: "test", Job: job}, 0)
	if err != nil {
		return nil, err
	}
	job.Status.Attempts = job.Status.Attempts[1:]
	last, err := extract.Records(extract.Input{Cluster: "test", Job: job}, job.Attempt())
	return append(records[:len(records)-1], last...), err
}

// WithMeasuredPods changes a run: the use of the pods of a running job and of an element of an array was measured.
func WithMeasuredPods(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		uses := map[string]podusage.Use{
			"train-sh-x7k2p-head-0": {CPUMilliseconds: 25 * 60 * 1000, PeakMemoryBytes: 3 << 30},
			"train-sh-x7k2p-node-0": {CPUMilliseconds: 2 * 60 * 60 * 1000, PeakMemoryBytes: 5<<30 + 700<<10},
			"train-sh-x7k2p-node-1": {CPUMilliseconds: 61_250, PeakMemoryBytes: 1_000_000},
			"sweep-head-3":          {CPUMilliseconds: 900, PeakMemoryBytes: 20 << 20},
		}
		for _, fields := range server.ObjectsBelow("/api/v1/pods") {
			pod := &corev1.Pod{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, pod); err != nil {
				panic(err) // the server stores valid pods
			}
			if use, isMeasured := uses[pod.Name]; isMeasured {
				pod.Annotations = map[string]string{keys.Used: use.Encode()}
				server.SetObjects(pod)
			}
		}
	}
	return r
}

func deletedPod() *corev1.Pod {
	return NewPod(deletedJob(), "head", 0, "r05n01", corev1.PodSucceeded, WithExit(0, "Completed", ""), func(p *corev1.Pod) {
		use := podusage.Use{CPUMilliseconds: 25 * 60 * 1000, PeakMemoryBytes: 1 << 30, GPUMilliseconds: 42 * 60 * 1000, GPUMeasuredMilliseconds: 50 * 60 * 1000}
		p.Annotations = map[string]string{keys.Used: use.Encode()}
	})
}
