package stream

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// streamer prints the logs of a job's containers line by line.
type streamer struct {
	o      *logsOptions
	client kubernetes.Interface
	sink   *sink

	mu      sync.Mutex // guards seen
	seen    map[string]bool
	printed bool
	work    sync.WaitGroup
	// over is closed when the job has ended. Logs that end after that are not reopened.
	over chan struct{}
}

// sink is the common output for the log lines of all jobs.
type sink struct {
	out   io.Writer
	style render.Style
	width int

	mu sync.Mutex // guards the output and active
	// active is the number of streams being followed.
	active int
}

// streamLogs prints the logs of jobs: one job after another or, with --follow, all at the same time.
func streamLogs(ctx context.Context, jobs []*logsOptions, c client.WithWatch) error {
	clientset, err := jobs[0].f.Clientset()
	if err != nil {
		return err
	}
	if jobs[0].follow {
		c = jobs[0].f.RetryingClient(c)
	}
	shared := newSink(jobs[0].f)
	for _, o := range jobs {
		shared.width = max(shared.width, len(o.of)+labelWidth(o.job))
	}
	problems := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, o := range jobs {
		s := newStreamer(o, clientset, shared)
		if o.follow {
			all.Go(func() { problems[i] = s.followLogs(ctx, c) })
			continue
		}
		problems[i] = s.printAvailable(ctx, c)
	}
	all.Wait()
	return warnAboutSilent(jobs[0].f, problems)
}

func newSink(f *cli.Factory) *sink {
	return &sink{out: f.Streams.Out, style: render.Style{Enabled: f.Streams.IsColored()}}
}

func newStreamer(o *logsOptions, clientset kubernetes.Interface, to *sink) *streamer {
	return &streamer{o: o, client: clientset, sink: to, seen: map[string]bool{}, over: make(chan struct{})}
}

// silence is the error for a job that has no output yet.
type silence struct{ of *usererror.Error }

func (s silence) Error() string { return s.of.What }
func (s silence) Unwrap() error { return s.of }

// warnAboutSilent converts the errors for jobs without output to warnings if at least one job has output.
func warnAboutSilent(f *cli.Factory, problems []error) error {
	mute := 0
	for _, err := range problems {
		if errors.As(err, &silence{}) {
			mute++
		}
	}
	if mute == len(problems) {
		return errors.Join(problems...)
	}
	for i, err := range problems {
		if one := (silence{}); errors.As(err, &one) {
			f.Warnf("%s", one.of.What)
			problems[i] = nil
		}
	}
	return errors.Join(problems...)
}

// labelWidth returns the width of the longest TASK-INDEX label, to align the lines.
func labelWidth(job *batchv1alpha1.Job) int {
	width := 0
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		last := strconv.Itoa(int(max(task.Replicas, 1) - 1))
		one := len(task.Name) + 1 + len(last)
		if containers := task.Template.Spec.Containers; len(containers)+len(task.Template.Spec.InitContainers) > 1 {
			longest := 0
			for _, container := range append(containers[:len(containers):len(containers)], task.Template.Spec.InitContainers...) {
				longest = max(longest, len(container.Name))
			}
			one += 1 + longest
		}
		width = max(width, one)
	}
	return width
}

// noLogsError returns the error for pods without logs. The notes contain the reason for each pod.
func (s *streamer) noLogsError(notes []string) error {
	logs := s.o.f.CommandText("job logs " + s.o.job.Name)
	if s.o.previous {
		return silence{usererror.Errorf(logs+" prints the current or most recent logs", "no previous logs: %s", joinNotes(notes))}
	}
	return silence{usererror.Errorf(s.o.f.CommandText("job view "+s.o.job.Name)+" shows why; "+logs+" -f waits", "no logs yet: %s", joinNotes(notes))}
}

// printAvailable prints the logs that are available now, pod by pod.
func (s *streamer) printAvailable(ctx context.Context, c client.Client) error {
	pods, err := clusterops.PodsOfJob(ctx, c, s.o.job)
	if err != nil {
		return err
	}
	var notes []string
	var problems []error
	nowhere := &lookup.SimulatedPods{}
	for _, pod := range pods {
		if !s.o.matchesPod(pod) {
			continue
		}
		sources, more := s.o.logSources(pod)
		notes = append(notes, more...)
		for _, source := range sources {
			s.printed = true
			spoken, err := s.copyLog(ctx, source)
			switch {
			case err == nil && !spoken && s.o.tail != 0:
				notes = append(notes, s.silenceReasons(ctx, c, source)...)
			case err != nil && !nowhere.Collect(ctx, c, source.pod):
				problems = append(problems, fmt.Errorf("%s: %w", source.label, err))
			}
		}
	}
	if len(pods) == 0 {
		return s.noPodsError(ctx, c)
	}
	if !s.printed {
		if len(notes) == 0 && len(s.o.tasks) > 0 && !s.o.failed {
			notes = append(notes, strings.Join(s.o.tasks, ", ")+": the pod has not been created yet")
		}
		if len(notes) > 0 {
			return s.noLogsError(notes)
		}
		if s.o.failed {
			notes = append(notes, fmt.Sprintf("no pod of job %q has failed", s.o.job.Name))
		}
	}
	for _, note := range notes {
		fmt.Fprintln(s.o.f.Streams.Err, printable.EscapeLine(note))
	}
	return errors.Join(append(problems, s.o.simulatedError(nowhere.Pods))...)
}

func joinNotes(notes []string) string {
	const most = 4
	text := ""
	for i, note := range notes {
		if i == most {
			return fmt.Sprintf("%s, and %d more", text, len(notes)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += note
	}
	return text
}

func (s *streamer) noPodsError(ctx context.Context, c client.Client) error {
	group, err := clusterops.PodGroupOfJob(ctx, c, s.o.job)
	if err != nil {
		group = nil
	}
	w := jobstatus.ExplainJob(s.o.job, group)
	e := usererror.Errorf(cmp.Or(w.Hint, s.o.f.CommandText("job explain "+s.o.job.Name)+" shows why"), "job %q has no pods: it is %s", s.o.job.Name, jobstatus.PhaseOrPending(s.o.job))
	if w.CodeAndMessage() != "" {
		e.What += "; " + w.CodeAndMessage()
	}
	return silence{e}
}

// followLogs prints the logs until the job and all its streams have ended.
func (s *streamer) followLogs(ctx context.Context, c client.WithWatch) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	told := wait.StartAnnouncer(ctx, s.o.f, c, s.o.job)
	defer told.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- wait.FollowJob(ctx, c, client.ObjectKeyFromObject(s.o.job), s.o.job.UID, func(job *batchv1alpha1.Job) (bool, error) {
			told.RecordJob(job)
			return jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)), nil
		})
	}()
	err := s.watchPods(ctx, c, ended)
	if errors.Is(err, cli.ErrGone) {
		err = nil
	}
	if ctx.Err() == nil {
		close(s.over)
		s.work.Wait()
	}
	return err
}

// watchPods starts a stream for every container that starts, until the job has ended. It then checks the pods once
// more to avoid losing output.
func (s *streamer) watchPods(ctx context.Context, c client.WithWatch, ended <-chan error) error {
	version := ""
	for {
		if version == "" {
			var err error
			if version, err = s.startExisting(ctx, c); err != nil {
				return err
			}
		}
		watcher, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace(s.o.job.Namespace), client.MatchingLabels{keys.JobName: s.o.job.Name},
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
		if err != nil {
			return err
		}
		over, err := s.followPodEvents(ctx, c, watcher, ended, &version)
		watcher.Stop()
		if over && (err == nil || errors.Is(err, cli.ErrGone)) {
			_, lookErr := s.startExisting(ctx, c)
			return errors.Join(err, lookErr)
		}
		if over || err != nil {
			return err
		}
	}
}

func (s *streamer) startExisting(ctx context.Context, c client.Client) (version string, err error) {
	page := &corev1.PodList{}
	err = cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			s.startSources(ctx, c, page.Items[i].DeepCopy())
		}
		return nil
	}, client.InNamespace(s.o.job.Namespace), client.MatchingLabels{keys.JobName: s.o.job.Name})
	return page.ResourceVersion, err
}

func (s *streamer) followPodEvents(ctx context.Context, c client.Client, watcher watch.Interface, ended <-chan error, version *string) (over bool, err error) {
	for {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case err := <-ended:
			return true, err
		case event, open := <-watcher.ResultChan():
			pod, ok := event.Object.(*corev1.Pod)
			if !open || !ok {
				*version = ""
				return false, nil
			}
			*version = pod.ResourceVersion
			s.startSources(ctx, c, pod)
		}
	}
}

// startSources follows those containers of a pod that are not followed yet.
func (s *streamer) startSources(ctx context.Context, c client.Client, pod *corev1.Pod) {
	if !s.o.matchesPod(pod) {
		return
	}
	sources, _ := s.o.logSources(pod)
	for _, source := range sources {
		if !s.registerSource(source) {
			continue
		}
		s.work.Go(func() {
			defer s.sink.removeStream()
			err := s.copyWithRetry(ctx, c, source)
			if err != nil && (&lookup.SimulatedPods{}).Collect(ctx, c, source.pod) {
				err = errors.New(lookup.NothingRunsText(source.pod))
			}
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
				s.printWarning("%s: %v", source.label, err)
			}
		})
	}
}

// registerSource marks a source as seen and reports whether to follow it. It returns false if the source was already
// seen, or if the maximum number of streams has been reached.
func (s *streamer) registerSource(source source) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[source.sourceKey()] {
		return false
	}
	s.seen[source.sourceKey()] = true
	if s.sink.addStream(s.o.most) {
		return true
	}
	s.printWarning("%s is not followed: the limit of %d streams has been reached; raise --max-log-requests, or select tasks with -t", source.label, s.o.most)
	return false
}

// printWarning prints a warning between log lines.
func (s *streamer) printWarning(format string, args ...any) {
	s.sink.mu.Lock()
	defer s.sink.mu.Unlock()
	s.o.f.Warnf(format, args...)
}

// addStream registers another stream, unless most streams are already active, and reports whether it did so. If most is
// 0, there is no limit.
func (s *sink) addStream(most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most > 0 && s.active >= most {
		return false
	}
	s.active++
	return true
}

func (s *sink) removeStream() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
}

// copyLog prints one container's log line by line; spoken reports whether the log had any lines.
func (s *streamer) copyLog(ctx context.Context, from source) (spoken bool, err error) {
	return s.readLog(ctx, from, s.logRequestOptions(from), func(line []byte) []byte { return line })
}

// logRequestOptions returns the options of the log request.
func (s *streamer) logRequestOptions(from source) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: from.container, Previous: s.o.previous, Timestamps: s.o.timestamps}
	if s.o.tail >= 0 {
		options.TailLines = &s.o.tail
	}
	if s.o.since > 0 {
		seconds := int64((s.o.since + time.Second - 1) / time.Second)
		options.SinceSeconds = &seconds
	}
	return options
}

// readLog prints a container's log. It passes each line through shown and skips the line if the result is empty.
func (s *streamer) readLog(ctx context.Context, from source, options *corev1.PodLogOptions, shown func([]byte) []byte) (spoken bool, err error) {
	body, err := s.client.CoreV1().Pods(from.pod.Namespace).GetLogs(from.pod.Name, options).Stream(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	prefix := s.linePrefix(from.label)
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if line[len(line)-1] != '\n' {
				line = append(line, '\n')
			}
			spoken = true
			if line = shown(line); len(line) == 0 {
				continue
			}
			if err := s.sink.writeLine(prefix, line); err != nil {
				return spoken, err
			}
		}
		if errors.Is(err, io.EOF) {
			return spoken, nil
		}
		if err != nil {
			return spoken, err
		}
	}
}

func (s *streamer) linePrefix(label string) string {
	if !s.o.prefix {
		return ""
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(label))
	s.sink.mu.Lock()
	defer s.sink.mu.Unlock()
	return s.sink.style.PaintStream(int(hash.Sum32()%6), fmt.Sprintf("%-*s |", s.sink.width, label)) + " "
}

func (s *sink) writeLine(prefix string, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(append([]byte(prefix), line...))
	return err
}
