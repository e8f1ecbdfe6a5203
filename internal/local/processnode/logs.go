package processnode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/local/processnode/logfile"
)

// httpError is an error with an HTTP status code.
type httpError struct {
	code int
	text string
}

func (e httpError) Error() string { return e.text }

// serveLogs handles requests of `kubectl logs`.
func (n *Node) serveLogs(w http.ResponseWriter, r *http.Request) {
	err := n.writeLogs(w, r, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	var known httpError
	switch {
	case errors.As(err, &known):
		http.Error(w, known.text, known.code)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (n *Node) writeLogs(w http.ResponseWriter, r *http.Request, namespace, name, container string) error {
	request, err := parseLogRequest(r.URL.Query(), time.Now())
	if err != nil {
		return httpError{http.StatusBadRequest, err.Error()}
	}
	source, err := n.findLog(r.Context(), namespace, name, container, request.previous)
	if err != nil {
		return err
	}
	live := source.live
	if !request.follow {
		live = nil
	}
	w.Header().Set("Content-Type", "text/plain")
	out := flushing{w}
	out.flushWriter()
	err = logfile.Read(r.Context(), source.path, live, request.options, out)
	if errors.Is(err, os.ErrNotExist) {
		// the container has not printed anything, or the log is on another machine
		return nil
	}
	return err
}

// flushing is a ResponseWriter that sends every line immediately.
type flushing struct{ http.ResponseWriter }

func (f flushing) flushWriter() {
	if flusher, ok := f.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

func (f flushing) Write(data []byte) (int, error) {
	n, err := f.ResponseWriter.Write(data)
	f.flushWriter()
	return n, err
}

// logRequest holds the parameters of a request for logs.
type logRequest struct {
	options          logfile.Options
	follow, previous bool
}

func parseLogRequest(query url.Values, now time.Time) (logRequest, error) {
	request := logRequest{options: logfile.Options{Tail: -1, LimitBytes: -1}}
	number := func(key string, minimum int64, set func(int64)) error {
		text := query.Get(key)
		if text == "" {
			return nil
		}
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil || value < minimum {
			return fmt.Errorf("%s: %q is not valid; use a whole number of at least %d", key, text, minimum)
		}
		set(value)
		return nil
	}
	flag := func(key string, target *bool) error {
		text := query.Get(key)
		if text == "" {
			return nil
		}
		value, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s: %q is not valid; use true or false", key, text)
		}
		*target = value
		return nil
	}
	err := errors.Join(
		number("tailLines", 0, func(v int64) { request.options.Tail = v }),
		number("limitBytes", 1, func(v int64) { request.options.LimitBytes = v }),
		number("sinceSeconds", 1, func(v int64) { request.options.Since = now.Add(-time.Duration(v) * time.Second) }),
		flag("follow", &request.follow), flag("previous", &request.previous), flag("timestamps", &request.options.Timestamps),
	)
	if text := query.Get("sinceTime"); text != "" && err == nil {
		request.options.Since, err = time.Parse(time.RFC3339, text)
	}
	switch query.Get("stream") {
	case "Stdout":
		request.options.Stream = logfile.Stdout
	case "Stderr":
		request.options.Stream = logfile.Stderr
	}
	return request, err
}

// logSource is the log of an attempt.
type logSource struct {
	path string
	live *logfile.File // nil if the attempt has ended
}

func (n *Node) findLog(ctx context.Context, namespace, name, container string, previous bool) (logSource, error) {
	object, exists, err := n.pods.GetStore().GetByKey(namespace + "/" + name)
	pod, ok := object.(*corev1.Pod)
	if err != nil || !exists || !ok {
		return logSource{}, httpError{http.StatusNotFound, fmt.Sprintf("pod %q is not on node %s", namespace+"/"+name, n.config.Name)}
	}
	status := n.currentContainerStatus(ctx, pod, container)
	current := -1
	if status != nil && status.ContainerID != "" {
		current = int(status.RestartCount)
	}
	n.mu.Lock()
	w := n.workers[pod.UID]
	n.mu.Unlock()
	var running *attempt
	if w != nil {
		if running = w.runningAttempt(container); running != nil {
			current = running.number
		}
	}
	if !hasContainer(pod, container) {
		return logSource{}, httpError{http.StatusNotFound, fmt.Sprintf("container %q in pod %q is not available", container, name)}
	}
	if previous {
		path := logPath(n.podDir(pod.UID), container, current-1)
		if _, err := os.Stat(path); current < 1 || err != nil {
			return logSource{}, httpError{http.StatusBadRequest, fmt.Sprintf("previous terminated container %q in pod %q not found", container, name)}
		}
		return logSource{path: path}, nil
	}
	if current < 0 {
		return logSource{}, httpError{http.StatusBadRequest, fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, name, waitingReason(status))}
	}
	source := logSource{path: logPath(n.podDir(pod.UID), container, current)}
	if running != nil {
		source.live = running.log
	}
	return source, nil
}

// currentContainerStatus returns the status of a container, or nil. It reads the pod from the API server if the cached
// pod says that the container has not started, because the cache may lag behind what the client has already seen.
func (n *Node) currentContainerStatus(ctx context.Context, cached *corev1.Pod, container string) *corev1.ContainerStatus {
	status := containerStatus(cached, container)
	if status != nil && status.ContainerID != "" {
		return status
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	current, err := n.client.CoreV1().Pods(cached.Namespace).Get(ctx, cached.Name, metav1.GetOptions{})
	if err != nil || current.UID != cached.UID {
		return status
	}
	return containerStatus(current, container)
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func hasContainer(pod *corev1.Pod, name string) bool {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
	}
	return false
}

func waitingReason(status *corev1.ContainerStatus) string {
	switch {
	case status == nil:
	case status.State.Waiting != nil:
		return status.State.Waiting.Reason
	case status.State.Terminated != nil:
		return status.State.Terminated.Reason + ": " + status.State.Terminated.Message
	}
	return "ContainerCreating"
}
