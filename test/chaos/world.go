package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
)

// lease is the lease duration of replicas. It is short so that many terms fit into a short run.
const (
	lease         = 4 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// bindWindow is how long a gang may be partially bound: it covers some lease durations, and the start of an API server
// and of a scheduler on a busy machine.
const bindWindow = 40 * time.Second

// World is a control plane with replicas of vcd and the rules that observe them.
type World struct {
	dir, binaries string
	rules         *Rules
	api           *Process
	replicas      map[string][]*Process // by component
	lines         map[string]*Line      // by replica
	webhooks      *webhookLine
	config        *rest.Config
	client        client.WithWatch
	background    sync.WaitGroup
	stop          context.CancelFunc
}

// newWorld starts all processes and returns when jobs can be submitted.
func newWorld(ctx context.Context, dir, binaries string) (*World, error) {
	nodes := map[string]int64{}
	for i := range nodeCount {
		nodes[fmt.Sprintf("sim-%d", i+1)] = nodeCPU * 1000
	}
	w := &World{dir: dir, binaries: binaries, rules: NewRules(nodes, bindWindow, lease), replicas: map[string][]*Process{}, lines: map[string]*Line{}}
	if err := w.startAPI(ctx); err != nil {
		return w, err
	}
	if err := w.addReplicas(); err != nil {
		return w, err
	}
	watching, stop := context.WithCancel(ctx)
	w.stop = stop
	w.followAll(watching)
	w.background.Go(func() { w.tick(watching) })
	return w, w.furnish(ctx)
}

// startAPI starts the control plane and waits until it answers.
func (w *World) startAPI(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(w.dir, "cluster", "kubeconfig")
	w.api = newProcess("vc-local", filepath.Join(w.binaries, "vc-local"), w.dir, w.ended, "up", "--dir", filepath.Join(w.dir, "cluster"), "--components", "api",
		"--port", fmt.Sprint(port), "--process-nodes", "0", "--simulated-nodes", fmt.Sprint(nodeCount), "--node-cpu", fmt.Sprint(nodeCPU), "--simulated-start", "200ms")
	if err := w.api.Start(); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), api.AddToScheme(scheme)); err != nil {
		return err
	}
	return patiently(ctx, func(ctx context.Context) error {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		config.QPS = -1
		w.config = config
		if w.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
			return err
		}
		nodes := &corev1.NodeList{}
		if err := w.client.List(ctx, nodes); err != nil || len(nodes.Items) < nodeCount {
			return errors.Join(err, fmt.Errorf("%d nodes of %d", len(nodes.Items), nodeCount))
		}
		for _, n := range nodes.Items {
			if _, known := w.rules.nodes[n.Name]; !known {
				return fmt.Errorf("node %s is not expected", n.Name)
			}
		}
		return nil
	})
}

// addReplicas starts two replicas of each component, each with its own line.
func (w *World) addReplicas() error {
	conf := filepath.Join(w.dir, "volcano-scheduler.conf")
	if err := os.WriteFile(conf, []byte(schedulerConf), 0o600); err != nil {
		return err
	}
	addresses := make([]string, 2)
	for i := range addresses {
		port, err := freePort()
		if err != nil {
			return err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	var err error
	if w.webhooks, err = newWebhookLine(addresses...); err != nil {
		return err
	}
	election := []string{"--leader-elect-lease-duration", lease.String(), "--leader-elect-renew-deadline", renewDeadline.String(), "--leader-elect-retry-period", retryPeriod.String()}
	for i := range addresses {
		more := map[string][]string{
			scheduler:   append([]string{"--scheduler-conf", conf}, election...),
			controllers: election,
			admission:   {"--webhook-listen-address", addresses[i], "--webhook-url", "https://" + w.webhooks.gate.Addr().String()},
		}
		for component, args := range more {
			if err := w.addReplica(component, fmt.Sprintf("%s-%d", component, i), args); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) addReplica(component, name string, args []string) error {
	kubeconfig := filepath.Join(w.dir, name+".kubeconfig")
	line, err := newLine(component, name, w.config, kubeconfig, w.rules)
	if err != nil {
		return err
	}
	w.lines[name] = line
	all := append([]string{component, "--kubeconfig", kubeconfig, "--enable-metrics=false", "--enable-healthz=false"}, args...)
	p := newProcess(name, filepath.Join(w.binaries, "vcd"), w.dir, w.ended, all...)
	w.replicas[component] = append(w.replicas[component], p)
	return p.Start()
}

// furnish creates the namespace, the queues and the priority class, and waits until the API server accepts jobs.
func (w *World) furnish(ctx context.Context) error {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: priority}, Value: 1000},
	}
	for _, q := range queues() {
		objects = append(objects, q)
	}
	for _, o := range objects {
		if err := patiently(ctx, func(ctx context.Context) error { return client.IgnoreAlreadyExists(w.client.Create(ctx, o)) }); err != nil {
			return fmt.Errorf("%T %s: %w", o, o.GetName(), err)
		}
	}
	first := Story{Name: "first", Shape: gang, Queue: "default", Pods: 1, Run: time.Millisecond, Acts: []Act{{Verb: Submit}}}
	if err := patiently(ctx, func(ctx context.Context) error { return w.act(ctx, first, first.Acts[0]) }); err != nil {
		return fmt.Errorf("the first job: %w", err)
	}
	return w.settle(ctx, []Story{first})
}

// tick checks every second the rules about time and memory.
func (w *World) tick(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.rules.Tick(now)
			for _, p := range w.all() {
				p.Sample()
			}
		}
	}
}

// all lists the replicas of all components.
func (w *World) all() []*Process {
	var all []*Process
	for _, c := range []string{scheduler, controllers, admission} {
		all = append(all, w.replicas[c]...)
	}
	return all
}

// ended records an unexpected exit of a process. Kubernetes would restart it, but a crash is a defect.
func (w *World) ended(name string, state *os.ProcessState) {
	const panicked = 2 // the exit code of a Go program that panics
	if state == nil || state.ExitCode() == panicked || !state.Exited() {
		w.rules.Broken("%s crashed: %v", name, state)
	}
}

// panics reports panics that a process recovered from and logged.
func (w *World) panics() {
	for _, p := range w.all() {
		data, err := os.ReadFile(p.log)
		if err != nil {
			continue
		}
		for _, sign := range []string{"panic:", "Observed a panic", "DATA RACE", "fatal error:"} {
			if at := bytes.Index(data, []byte(sign)); at >= 0 {
				w.rules.Broken("%s: %s", p.name, strings.SplitN(string(data[at:min(len(data), at+600)]), "\n\n", 2)[0])
			}
		}
	}
}

// close stops everything.
func (w *World) close() {
	if w.stop != nil {
		w.stop()
	}
	for _, p := range w.all() {
		p.Close(syscall.SIGKILL)
	}
	w.background.Wait()
	for _, l := range w.lines {
		l.close()
	}
	if w.webhooks != nil {
		w.webhooks.close()
	}
	if w.api != nil {
		w.api.Close(syscall.SIGTERM)
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
