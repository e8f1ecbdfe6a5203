package jobsummary_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/test/propertytest"
)

var now = time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)

// words contains texts with a meaning in some field, and texts without any.
var words = append(strings.Fields("0-3 1 2,5-7 r1 r2 true user admin OOMKilled DeadlineExceeded Evicted ImagePullBackOff TerminateJob head cpu queue quota Unschedulable True vc-1 0+40 afterok:7 42"),
	"", "command TerminateJob by mei", "stopped (command TerminateJob)", "2026-11-22T02:00:00Z", `{"partition":"long","tasks":4,"gres":"gpu:2","stdOut":"/x/%j-%N.out","comment":"a|b"}`)

// said contains termination messages: reports of launchers, other texts, and a truncated report.
var said = []string{
	"", "out of room", launchconfig.Report{Code: 143}.EncodeText(), launchconfig.Report{Signal: 9, Usage: launchconfig.Usage{CPUMillis: 95_500, MaxRSS: 301_000}}.EncodeText(), launchconfig.Report{Code: 3}.EncodeText()[:12],
	launchconfig.Report{Steps: []launchconfig.Step{{ID: 0, Name: "hostname", Nodes: "job-0-head-0", Tasks: 1, Start: now.Unix() - 90, End: now.Unix() - 30}, {ID: 1, Name: "python", Tasks: 2, Start: now.Unix() - 20, Code: 3}}}.EncodeText(),
}

// custom returns a generator for values of all kinds.
func custom() rapid.MakeConfig {
	word := rapid.SampledFrom(append(words[:len(words):len(words)], reasons()...)).AsAny()
	moment := rapid.Map(rapid.IntRange(-5000, 5000), func(n int) metav1.Time { return metav1.NewTime(now.Add(time.Duration(n) * time.Second).Local()) })
	return rapid.MakeConfig{
		Types: map[reflect.Type]*rapid.Generator[any]{
			reflect.TypeFor[metav1.Time]():                             moment.AsAny(),
			reflect.TypeFor[metav1.Duration]():                         rapid.Just(metav1.Duration{}).AsAny(),
			reflect.TypeFor[resource.Quantity]():                       rapid.Map(rapid.SampledFrom([]string{"1", "1500m", "4Gi", "8", "0"}), resource.MustParse).AsAny(),
			reflect.TypeFor[batchv1alpha1.JobPhase]():                  rapid.SampledFrom([]batchv1alpha1.JobPhase{"", batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Aborted, batchv1alpha1.Aborting, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Terminating, batchv1alpha1.Completed, batchv1alpha1.Terminated, batchv1alpha1.Failed}).AsAny(),
			reflect.TypeFor[schedulingv1beta1.PodGroupPhase]():         rapid.SampledFrom([]schedulingv1beta1.PodGroupPhase{"", "Pending", "Inqueue", "Running", "Unknown"}).AsAny(),
			reflect.TypeFor[corev1.PodPhase]():                         rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}).AsAny(),
			reflect.TypeFor[corev1.ResourceName]():                     rapid.SampledFrom([]corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu", "x.y/z"}).AsAny(),
			reflect.TypeFor[schedulingv1beta1.PodGroupConditionType](): rapid.SampledFrom([]schedulingv1beta1.PodGroupConditionType{schedulingv1beta1.PodGroupUnschedulableType, schedulingv1beta1.PodGroupScheduledType}).AsAny(),
			reflect.TypeFor[corev1.ConditionStatus]():                  rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}).AsAny(),
			reflect.TypeFor[corev1.PodConditionType]():                 rapid.SampledFrom([]corev1.PodConditionType{corev1.DisruptionTarget, corev1.PodScheduled}).AsAny(),
		},
		Kinds: map[reflect.Kind]*rapid.Generator[any]{reflect.String: word, reflect.Int32: rapid.Int32Range(0, 5).AsAny(), reflect.Int64: rapid.Int64Range(0, 5000).AsAny()},
	}
}

func reasons() []string {
	var all []string
	for _, entry := range reason.Table {
		all = append(all, string(entry.Code))
	}
	return all
}

var (
	anyStatus    = rapid.MakeCustom[batchv1alpha1.JobStatus](custom())
	anyGroup     = rapid.MakeCustom[schedulingv1beta1.PodGroupStatus](custom())
	anyPod       = rapid.MakeCustom[corev1.PodStatus](podStatus())
	anyResources = rapid.MakeCustom[corev1.ResourceRequirements](custom())
	anyWord      = rapid.SampledFrom(words)
)

// podStatus excludes large fields that no list shows.
func podStatus() rapid.MakeConfig {
	c := custom()
	c.Fields = map[reflect.Type]map[string]*rapid.Generator[any]{
		reflect.TypeFor[corev1.ContainerStateTerminated](): {"Message": rapid.SampledFrom(said).AsAny(),
			"Reason": rapid.SampledFrom([]string{"", "Error", "OOMKilled", "NodeStopped", "StartError"}).AsAny()},
		reflect.TypeFor[corev1.ContainerStatus](): {"Resources": rapid.Just((*corev1.ResourceRequirements)(nil)).AsAny(), "AllocatedResourcesStatus": rapid.Just([]corev1.ResourceStatus(nil)).AsAny(),
			"User": rapid.Just((*corev1.ContainerUser)(nil)).AsAny()},
	}
	return c
}

// draw draws a cluster of a few arbitrary jobs.
func draw(t *rapid.T) (jobs []*batchv1alpha1.Job, groups []*schedulingv1beta1.PodGroup, pods []*corev1.Pod) {
	for i := range rapid.IntRange(1, 3).Draw(t, "jobs") {
		job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: rapid.SampledFrom([]string{"nlp", "bio"}).Draw(t, "namespace"), Name: fmt.Sprint("job-", i), UID: types.UID(fmt.Sprint("uid-", i)),
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour).Local()), Labels: map[string]string{"team": "nlp"}, Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}}}
		for _, key := range []string{keys.JobID, keys.User} {
			if rapid.Bool().Draw(t, key) {
				job.Labels[key] = anyWord.Draw(t, key)
			}
		}
		for _, key := range append([]string{keys.Slurm, keys.User, keys.JobTitle, keys.Array, keys.CancelledBy}, batchv1alpha1.JudgedAnnotations...) {
			if rapid.IntRange(0, 3).Draw(t, key) == 0 {
				job.Annotations[key] = anyWord.Draw(t, key)
			}
		}
		job.Spec = drawSpec(t)
		job.Status = anyStatus.Draw(t, "status")
		jobs = append(jobs, job)
		if rapid.Bool().Draw(t, "has a PodGroup") {
			groups = append(groups, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, OwnerReferences: []metav1.OwnerReference{{UID: job.UID}}}, Status: anyGroup.Draw(t, "group")})
		}
		for n := range rapid.IntRange(0, 3).Draw(t, "pods") {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: fmt.Sprint(job.Name, "-head-", n), Labels: map[string]string{keys.JobName: job.Name}}}
			for _, key := range []string{keys.TaskSpec, keys.TaskIndex, keys.JobID, keys.ArrayIndex} {
				if rapid.Bool().Draw(t, key) {
					pod.Labels[key] = anyWord.Draw(t, key)
				}
			}
			pod.Spec.NodeName = anyWord.Draw(t, "node")
			pod.Status = anyPod.Draw(t, "pod")
			pods = append(pods, pod)
		}
	}
	return jobs, groups, pods
}

func drawSpec(t *rapid.T) batchv1alpha1.JobSpec {
	spec := batchv1alpha1.JobSpec{Queue: anyWord.Draw(t, "queue"), PriorityClassName: anyWord.Draw(t, "class"), MinAvailable: rapid.Int32Range(0, 3).Draw(t, "minimum")}
	for range rapid.IntRange(1, 2).Draw(t, "tasks") {
		task := batchv1alpha1.TaskSpec{Name: anyWord.Draw(t, "task"), Replicas: rapid.Int32Range(0, 9).Draw(t, "replicas")}
		if rapid.Bool().Draw(t, "has a minimum") {
			task.MinAvailable = new(rapid.Int32Range(0, 3).Draw(t, "minimum"))
		}
		if rapid.Bool().Draw(t, "is partitioned") {
			task.PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{PartitionSize: rapid.Int32Range(0, 3).Draw(t, "partition")}
		}
		pod := &task.Template.Spec
		if rapid.Bool().Draw(t, "has a limit") {
			pod.ActiveDeadlineSeconds = new(rapid.Int64Range(1, 9999).Draw(t, "limit"))
		}
		if rapid.Bool().Draw(t, "has a user") {
			pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(rapid.Int64Range(1, 9999).Draw(t, "user"))}
		}
		for range rapid.IntRange(0, 2).Draw(t, "containers") {
			pod.Containers = append(pod.Containers, corev1.Container{Name: "main", Image: "busybox", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}, Resources: anyResources.Draw(t, "resources")})
		}
		spec.Tasks = append(spec.Tasks, task)
	}
	return spec
}

// across encodes entries and decodes them again.
func across(t interface{ Fatal(...any) }, entries []jobsummary.Entry) []jobsummary.Entry {
	var stream []byte
	for _, e := range entries {
		parts, err := jobsummary.EncodeParts(e)
		if err != nil {
			t.Fatal(err)
		}
		stream = jobsummary.AppendEntry(stream, parts...)
	}
	read, err := readAll(jobsummary.AppendEnd(stream, len(entries)))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func readAll(stream []byte) ([]jobsummary.Entry, error) {
	var all []jobsummary.Entry
	r := jobsummary.NewReader(bytes.NewReader(stream))
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, *entry)
	}
}

// rows returns squeue's output for entries: every column, and the JSON.
func rows(entries []jobsummary.Entry, q jobsummary.Query, each bool) [][]string {
	var all [][]string
	for _, e := range entries {
		source := &listrow.Source{Job: e.Job, Group: e.Group, Pods: e.Pods, PodsRead: q.Pods, Cluster: "c", Now: now}
		list := listrow.RowsOf(source, each)
		for i := range list {
			var row []string
			for _, f := range (squeue.Style{}).ColumnFields() {
				row = append(row, f.Title+"="+f.Value(&list[i]))
			}
			row = append(row, fmt.Sprintf("%+v", squeue.NewDocument([]*listrow.Row{&list[i]}, nil, "", now).Jobs))
			all = append(all, row)
		}
	}
	return all
}

// TestSqueueSaysTheSameOfFactsAsOfWholeObjects verifies that squeue prints the same for decoded entries as for complete
// objects of any cluster.
func TestSqueueSaysTheSameOfFactsAsOfWholeObjects(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 1_000, func(t *rapid.T) {
		jobs, groups, pods := draw(t)
		q := jobsummary.Query{Pods: rapid.Bool().Draw(t, "with pods"), Ended: rapid.Bool().Draw(t, "with ended pods")}
		whole := jobsummary.JoinEntries(q, jobs, groups, pods)
		read := across(t, whole)
		for _, each := range []bool{false, true} {
			if diff := cmp.Diff(rows(whole, q, each), rows(read, q, each)); diff != "" {
				t.Fatalf("each %v (-whole +read)\n%s", each, diff)
			}
		}
	})
}

// accounts returns sacct's output for entries: every column of jobs and steps, and the JSON.
func accounts(entries []jobsummary.Entry, q jobsummary.Query, each bool) [][]string {
	var all [][]string
	var lines []*sacct.Line
	for _, e := range entries {
		source := &listrow.Source{Job: e.Job, Group: e.Group, Pods: e.Pods, PodsRead: q.Pods, Cluster: "c", Now: now}
		rows := listrow.RowsOf(source, each)
		for i := range rows {
			list := sacct.LinesOf(&rows[i], false)
			for n := range list {
				lines = append(lines, &list[n])
			}
		}
	}
	for _, line := range lines {
		var row []string
		for _, f := range (sacct.Style{}).ColumnFields() {
			row = append(row, f.Title+"="+f.Value(line))
		}
		all = append(all, row)
	}
	return append(all, []string{fmt.Sprintf("%+v", sacct.NewDocument(lines, nil, "").Jobs)})
}

// TestSacctSaysTheSameOfFactsAsOfWholeObjects verifies that sacct prints the same for decoded entries as for complete
// objects of any cluster, including steps and their usage.
func TestSacctSaysTheSameOfFactsAsOfWholeObjects(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 300, func(t *rapid.T) {
		jobs, groups, pods := draw(t)
		q := jobsummary.Query{Pods: true, Ended: true}
		whole := jobsummary.JoinEntries(q, jobs, groups, pods)
		read := across(t, whole)
		for _, each := range []bool{false, true} {
			if diff := cmp.Diff(accounts(whole, q, each), accounts(read, q, each)); diff != "" {
				t.Fatalf("each %v (-whole +read)\n%s", each, diff)
			}
		}
	})
}

func TestAListThatWasCutOffIsAnErrorAndNoShorterList(t *testing.T) {
	t.Parallel()
	entry := jobsummary.Entry{Job: &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "train", Annotations: map[string]string{keys.User: "mei"}}}}
	parts, err := jobsummary.EncodeParts(entry)
	if err != nil {
		t.Fatal(err)
	}
	var stream []byte
	for range 3 {
		stream = jobsummary.AppendEntry(stream, parts...)
	}
	whole := jobsummary.AppendEnd(bytes.Clone(stream), 3)
	if all, err := readAll(whole); err != nil || len(all) != 3 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	for n := range len(whole) {
		if all, err := readAll(whole[:n]); err == nil {
			t.Errorf("of %d of %d bytes %d entries were read", n, len(whole), len(all))
		}
	}
	if _, err := readAll(jobsummary.AppendEnd(stream, 4)); err == nil || !strings.Contains(err.Error(), "3 of 4 entries") {
		t.Errorf("an entry too few: %v", err)
	}
}

func TestAMessageThatIsTooLongIsNotReadAtAll(t *testing.T) {
	t.Parallel()
	if _, err := readAll([]byte{0x80, 0x80, 0x80, 0x80, 0x10}); err == nil || !strings.Contains(err.Error(), "a message of 4294967296 bytes") {
		t.Errorf("%v", err)
	}
}

// TestWhatJobsHaveInCommonIsNotChangedByOneOfThem verifies that jobs with shared parts keep their differences.
func TestWhatJobsHaveInCommonIsNotChangedByOneOfThem(t *testing.T) {
	t.Parallel()
	var entries []jobsummary.Entry
	for i := range 3 {
		at := metav1.NewTime(time.Unix(now.Unix()-int64(i)*60, 0))
		job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}, Status: batchv1alpha1.JobStatus{Conditions: []batchv1alpha1.JobCondition{{Status: batchv1alpha1.Running, LastTransitionTime: &at}}}}
		group := &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Explanation: &schedulingv1beta1.Explanation{Reason: "TooLarge", EstimatedStart: &at, Queue: &schedulingv1beta1.ExplainedQueue{Name: "q", Position: int32(i)}}}}
		entries = append(entries, jobsummary.Entry{Job: job, Group: group})
	}
	for i, got := range across(t, entries) {
		e, want := got.Group.Status.Explanation, entries[i].Group.Status.Explanation
		if !got.Job.Status.Conditions[0].LastTransitionTime.Equal(entries[i].Job.Status.Conditions[0].LastTransitionTime) || !e.EstimatedStart.Equal(want.EstimatedStart) || e.Queue.Position != want.Queue.Position {
			t.Errorf("%d: %+v, %+v", i, got.Job.Status, e)
		}
	}
}

// TestWhatNoListTellsStaysBehind verifies that fields which lists do not show are not sent.
func TestWhatNoListTellsStaysBehind(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "nlp"}, Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}", keys.User: "mei"}}}
	ended := func(message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}}}}
	}
	got := across(t, []jobsummary.Entry{{Job: job, Pods: []*corev1.Pod{ended("the last lines of a log")}}})[0]
	if len(got.Job.Labels) > 0 || len(got.Job.Annotations) != 1 || got.Pods[0].Status.ContainerStatuses[0].State.Terminated.Message != "" {
		t.Errorf("%+v, %+v", got.Job.ObjectMeta, got.Pods[0].Status)
	}
}

func TestPodsAreJoinedToTheirJobs(t *testing.T) {
	t.Parallel()
	pod := func(namespace, name, job string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Status: corev1.PodStatus{Phase: phase}}
		if job != "" {
			p.Labels = map[string]string{keys.JobName: job}
		}
		return p
	}
	job := func(namespace, name string) *batchv1alpha1.Job {
		return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name)}}
	}
	jobs := []*batchv1alpha1.Job{job("nlp", "a"), job("bio", "a"), job("nlp", "")}
	pods := []*corev1.Pod{pod("nlp", "a-2", "a", corev1.PodRunning), pod("nlp", "a-1", "a", corev1.PodPending), pod("nlp", "a-0", "a", corev1.PodFailed), pod("bio", "other", "a", corev1.PodRunning),
		pod("nlp", "nobody's", "", corev1.PodRunning)}
	for _, c := range []struct {
		q    jobsummary.Query
		want []string
	}{
		{jobsummary.Query{}, []string{"nlp/a:", "bio/a:", "nlp/:"}},
		{jobsummary.Query{Pods: true}, []string{"nlp/a: a-1 a-2", "bio/a: other", "nlp/:"}},
		{jobsummary.Query{Pods: true, Ended: true}, []string{"nlp/a: a-0 a-1 a-2", "bio/a: other", "nlp/:"}},
	} {
		var got []string
		for _, entry := range jobsummary.JoinEntries(c.q, jobs, nil, pods) {
			text := entry.Job.Namespace + "/" + entry.Job.Name + ":"
			for _, pod := range entry.Pods {
				text += " " + pod.Name
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v\n%s", c.q, diff)
		}
	}
}

func FuzzRead(f *testing.F) {
	parts, err := jobsummary.EncodeParts(jobsummary.Entry{Job: &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{keys.JobID: "1"}}}, Group: &schedulingv1beta1.PodGroup{}, Pods: []*corev1.Pod{{}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(jobsummary.AppendEnd(jobsummary.AppendEntry(nil, parts...), 1))
	f.Fuzz(func(_ *testing.T, stream []byte) { _, _ = readAll(stream) })
}

func BenchmarkRead(b *testing.B) {
	var entries []jobsummary.Entry
	for i := range 10_000 {
		job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: fmt.Sprint("prepare-", i), UID: types.UID(fmt.Sprint("uid-", i)), CreationTimestamp: metav1.NewTime(now),
			Labels: map[string]string{keys.JobID: fmt.Sprint(i)}, Annotations: map[string]string{keys.User: "mei", keys.JobTitle: "prepare", keys.Slurm: words[len(words)-1]}}}
		job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 1}}
		entries = append(entries, jobsummary.Entry{Job: job, Group: &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Explanation: &schedulingv1beta1.Explanation{Reason: "TooLarge", Queue: &schedulingv1beta1.ExplainedQueue{Position: int32(i)}}}}})
	}
	for b.Loop() {
		across(b, entries)
	}
}
