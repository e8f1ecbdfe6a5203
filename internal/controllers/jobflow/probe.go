package jobflow

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/index"
)

const (
	// probePatience is the timeout for one pod.
	probePatience = time.Second
	// allPatience is the timeout for all pods of a task together. It is limited because other flows have to wait in the
	// meantime.
	allPatience = 5 * time.Second
	// probesAtOnce is the maximum number of pods that are probed in parallel for a flow.
	probesAtOnce = 32
)

// prober runs probes against pods.
type prober struct {
	cache client.Reader
	http  *http.Client
}

func newProber(cache client.Reader) *prober {
	return &prober{cache: cache, http: &http.Client{
		Timeout: probePatience,
		// A redirect counts as a response. Connections are not kept alive, because each pod is probed rarely.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DisableKeepAlives: true},
	}}
}

// runAllProbes runs the probes. A probe succeeds if all pods of the task exist, are running and respond. It counts as
// unanswered if it fails although all pods are running.
func (p *prober) runAllProbes(ctx context.Context, jobs map[string]*batchv1alpha1.Job, probes []Probe) (held map[Probe]bool, unanswered []Probe, err error) {
	held = map[Probe]bool{}
	for _, probe := range probes {
		addresses, err := p.podAddresses(ctx, jobs[probe.Job], probe.Task)
		if err != nil {
			return nil, nil, err
		}
		held[probe] = len(addresses) > 0 && p.probeAllAddresses(ctx, probe, addresses)
		if len(addresses) > 0 && !held[probe] {
			unanswered = append(unanswered, probe)
		}
	}
	return held, unanswered, nil
}

// silentAfter is the number of consecutive unanswered probes after which an event is recorded.
const silentAfter = 30

// listener counts the consecutive unanswered probes of each flow. The zero value is ready to use. A listener is safe
// for concurrent use.
type listener struct {
	mu     sync.Mutex
	missed map[types.NamespacedName]map[Probe]int
}

// countUnanswered records the unanswered probes of a flow, and reports which probes have been unanswered too often.
func (l *listener) countUnanswered(flow types.NamespacedName, unanswered []Probe) map[Probe]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.missed[flow]
	if len(unanswered) == 0 {
		delete(l.missed, flow)
		return nil
	}
	now, silent := map[Probe]int{}, map[Probe]bool{}
	for _, probe := range unanswered {
		now[probe] = before[probe] + 1
		silent[probe] = now[probe] >= silentAfter
	}
	if l.missed == nil {
		l.missed = map[types.NamespacedName]map[Probe]int{}
	}
	l.missed[flow] = now
	return silent
}

// podAddresses returns the IP addresses of the running pods of a task, or nil if fewer pods are running than the task
// needs.
func (p *prober) podAddresses(ctx context.Context, job *batchv1alpha1.Job, name string) ([]string, error) {
	if job == nil {
		return nil, nil
	}
	task := findTaskByName(job, name)
	if task == nil {
		return nil, nil
	}
	var pods corev1.PodList
	if err := p.cache.List(ctx, &pods, client.InNamespace(job.Namespace), client.MatchingFields{index.PodController: string(job.UID)}); err != nil {
		return nil, err
	}
	var addresses []string
	for i := range pods.Items {
		pod := &pods.Items[i]
		isRunning := pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
		if pod.Annotations[keys.TaskSpec] == name && isRunning && pod.Status.PodIP != "" {
			addresses = append(addresses, pod.Status.PodIP)
		}
	}
	if int32(len(addresses)) < neededPods(task) {
		return nil, nil
	}
	return addresses, nil
}

// probeAllAddresses probes the addresses in parallel. It stops at the first failure, or when allPatience has passed.
func (p *prober) probeAllAddresses(ctx context.Context, probe Probe, addresses []string) bool {
	ctx, cancel := context.WithTimeout(ctx, allPatience)
	defer cancel()
	var wait sync.WaitGroup
	var silent atomic.Bool
	slots := make(chan struct{}, probesAtOnce)
	for _, address := range addresses {
		slots <- struct{}{}
		if ctx.Err() != nil {
			silent.Store(true)
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			if !p.probeOneAddress(ctx, probe, net.JoinHostPort(address, strconv.Itoa(probe.Port))) {
				silent.Store(true)
				cancel()
			}
		})
	}
	wait.Wait()
	return !silent.Load()
}

func (p *prober) probeOneAddress(ctx context.Context, probe Probe, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if probe.Network == "tcp" {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return false
		}
		_ = connection.Close()
		return true
	}
	path, query, _ := strings.Cut(probe.Path, "?")
	target := url.URL{Scheme: "http", Host: address, Path: "/" + strings.TrimPrefix(path, "/"), RawQuery: query}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return false
	}
	if probe.Header != "" {
		request.Header.Set(probe.Header, probe.Value)
		if strings.EqualFold(probe.Header, "Host") {
			request.Host = probe.Value
		}
	}
	response, err := p.http.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode >= http.StatusOK && response.StatusCode < http.StatusBadRequest
}
