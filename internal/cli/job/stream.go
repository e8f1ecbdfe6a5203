package job

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
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
	"github.com/vc-batch/vc/internal/render"
)

// streamer prints the logs of many containers, a whole line at a time.
type streamer struct {
	o      *logsOptions
	client kubernetes.Interface
	style  render.Style
	width  int

	mu      sync.Mutex // guards what follows and the output
	seen    map[string]bool
	active  int
	printed bool
	work    sync.WaitGroup
}

func stream(ctx context.Context, o *logsOptions, c client.WithWatch) error {
	clientset, err := o.f.Clientset()
	if err != nil {
		return err
	}
	s := &streamer{o: o, client: clientset, style: render.Style{Enabled: o.f.Streams.Color()}, width: labelWidth(o.job), seen: map[string]bool{}}
	if o.follow {
		return s.follow(ctx, c)
	}
	return s.once(ctx, c)
}

// labelWidth is how wide task-index gets, so that the lines stand below each other.
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

// once prints what there is, pod after pod.
func (s *streamer) once(ctx context.Context, c client.Client) error {
	pods, err := podsOf(ctx, c, s.o.job)
	if err != nil {
		return err
	}
	var notes []string
	var problems []error
	nowhere := &simulated{kind: map[string]string{}}
	for _, pod := range pods {
		if !s.o.wants(pod) {
			continue
		}
		sources, more := s.o.sources(pod)
		notes = append(notes, more...)
		for _, source := range sources {
			s.printed = true
			spoken, err := s.copy(ctx, source, false)
			switch {
			case err == nil && !spoken && s.o.tail != 0:
				notes = append(notes, s.whySilent(ctx, c, source)...)
			case err != nil && !nowhere.holds(ctx, c, source.pod):
				problems = append(problems, fmt.Errorf("%s: %w", source.label, err))
			}
		}
	}
	if len(pods) == 0 {
		return s.noPods(ctx, c)
	}
	if !s.printed && len(notes) > 0 {
		return cli.Errorf(s.o.f.Typed("job view "+s.o.job.Name)+" says why; "+s.o.f.Typed("job logs "+s.o.job.Name)+" -f waits", "no logs yet: %s", joined(notes))
	}
	for _, note := range notes {
		fmt.Fprintln(s.o.f.Streams.Err, note)
	}
	return errors.Join(append(problems, nowhere.problem(s.o))...)
}

func joined(notes []string) string {
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

func (s *streamer) noPods(ctx context.Context, c client.Client) error {
	group, err := groupOf(ctx, c, s.o.job)
	if err != nil {
		group = nil
	}
	w := explain(s.o.job, group)
	e := cli.Errorf(w.Hint, "job %q has no pods: it is %s", s.o.job.Name, phaseOf(s.o.job))
	if w.short() != "" {
		e.What += "; " + w.short()
	}
	return e
}

// follow prints until the job has ended and every stream with it.
func (s *streamer) follow(ctx context.Context, c client.WithWatch) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- follow(ctx, c, client.ObjectKeyFromObject(s.o.job), s.o.job.UID, func(job *batchv1alpha1.Job) (bool, error) {
			return finished(phaseOf(job)), nil
		})
	}()
	err := s.watchPods(ctx, c, ended)
	if errors.Is(err, errGone) {
		err = nil
	}
	if ctx.Err() == nil {
		s.work.Wait()
	}
	return err
}

// watchPods starts a stream for every container that starts, until the job has
// ended; then it looks once more, so that nothing that was said is lost.
func (s *streamer) watchPods(ctx context.Context, c client.WithWatch, ended <-chan error) error {
	version := ""
	for {
		if version == "" {
			var err error
			if version, err = s.look(ctx, c); err != nil {
				return err
			}
		}
		watcher, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace(s.o.job.Namespace), client.MatchingLabels{keys.JobName: s.o.job.Name},
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
		if err != nil {
			return err
		}
		over, err := s.podEvents(ctx, c, watcher, ended, &version)
		watcher.Stop()
		if over && (err == nil || errors.Is(err, errGone)) {
			_, lookErr := s.look(ctx, c)
			return errors.Join(err, lookErr)
		}
		if over || err != nil {
			return err
		}
	}
}

func (s *streamer) look(ctx context.Context, c client.Client) (version string, err error) {
	list := &corev1.PodList{}
	err = c.List(ctx, list, client.InNamespace(s.o.job.Namespace), client.MatchingLabels{keys.JobName: s.o.job.Name})
	for i := range list.Items {
		s.start(ctx, c, &list.Items[i])
	}
	return list.ResourceVersion, err
}

func (s *streamer) podEvents(ctx context.Context, c client.Client, watcher watch.Interface, ended <-chan error, version *string) (over bool, err error) {
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
			s.start(ctx, c, pod)
		}
	}
}

// start follows those containers of a pod that are not followed yet.
func (s *streamer) start(ctx context.Context, c client.Client, pod *corev1.Pod) {
	if !s.o.wants(pod) {
		return
	}
	sources, _ := s.o.sources(pod)
	for _, source := range sources {
		s.mu.Lock()
		fresh := !s.seen[source.key()]
		s.seen[source.key()] = true
		if fresh && s.active >= s.o.most && s.o.most > 0 {
			fresh = false
			s.o.f.Warnf("%s is not followed: more than %d streams; raise --max-log-requests, or choose tasks with -t", source.label, s.o.most)
		}
		if fresh {
			s.active++
		}
		s.mu.Unlock()
		if !fresh {
			continue
		}
		s.work.Go(func() {
			_, err := s.copy(ctx, source, true)
			if err != nil && (&simulated{kind: map[string]string{}}).holds(ctx, c, source.pod) {
				err = errors.New(nothingRuns(source.pod))
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.active--
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
				s.o.f.Warnf("%s: %v", source.label, err)
			}
		})
	}
}

// copy prints one container's log, line by line; it reports whether there was any.
func (s *streamer) copy(ctx context.Context, from source, follow bool) (spoken bool, err error) {
	options := &corev1.PodLogOptions{Container: from.container, Follow: follow, Previous: s.o.previous, Timestamps: s.o.timestamps}
	if s.o.tail >= 0 {
		options.TailLines = &s.o.tail
	}
	if s.o.since > 0 {
		seconds := int64((s.o.since + time.Second - 1) / time.Second)
		options.SinceSeconds = &seconds
	}
	body, err := s.client.CoreV1().Pods(from.pod.Namespace).GetLogs(from.pod.Name, options).Stream(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	prefix := s.prefixOf(from.label)
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if line[len(line)-1] != '\n' {
				line = append(line, '\n')
			}
			spoken = true
			if err := s.print(prefix, line); err != nil {
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

func (s *streamer) prefixOf(label string) string {
	if !s.o.prefix {
		return ""
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(label))
	return s.style.Stream(int(hash.Sum32()%6), fmt.Sprintf("%-*s |", s.width, label)) + " "
}

func (s *streamer) print(prefix string, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.o.f.Streams.Out.Write(append([]byte(prefix), line...))
	return err
}
