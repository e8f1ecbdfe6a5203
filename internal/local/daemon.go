package local

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/local/controlplane"
)

const (
	// daemonReadyTimeout is the maximum time until all components of the daemon are ready.
	daemonReadyTimeout = 60 * time.Second
	// longestBackOff is the maximum delay before a failed daemon is restarted.
	longestBackOff = 30 * time.Second
	// steadyAfter is how long the daemon must run for the back-off to be reset.
	steadyAfter = time.Minute
)

// daemonPart runs vcd inside this process. It is nil if the settings exclude it.
type daemonPart struct {
	begun   time.Time
	options daemon.Options
	cancel  context.CancelFunc
	done    chan struct{}
	// failed receives the first error that occurs before all components are ready.
	failed chan error
	ready  chan struct{}

	mu     sync.Mutex
	states map[string]string
}

// startDaemon starts the components of vcd without waiting for them, unless the settings exclude them.
func startDaemon(s Settings, plane *controlplane.ControlPlane) *daemonPart {
	if s.Components == ComponentsAPI {
		return nil
	}
	d := &daemonPart{
		begun: time.Now(), done: make(chan struct{}), failed: make(chan error, 1), ready: make(chan struct{}),
		states: map[string]string{},
	}
	components := append(daemon.ComponentNames(), daemon.Accounting)
	for _, component := range components {
		d.states[component] = stateStarting
	}
	// This cluster has no kube-scheduler, so the project's scheduler also handles pods and Deployments that do not
	// name a scheduler.
	d.options = daemon.Options{
		Config: plane.RESTConfig(), Components: components, SchedulerConf: s.SchedulerConf, Ready: d.componentReady,
		SchedulerNames: []string{keys.DefaultSchedulerName, corev1.DefaultSchedulerName},
	}
	d.options.Accounting = daemon.AccountingOptions{Store: "sqlite:" + s.Dir.accountingDir(), SpoolDir: s.Dir.accountingSpoolDir(), Cluster: "vc-local"}
	d.options.Admission.RecordJobs = true
	d.options.Admission.ListenAddress, d.options.Listing.ListenAddress, d.options.Accounting.API.ListenAddress = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	d.options.Admission.ClientCAFile, d.options.Admission.ClientNames = plane.PKI().CACert(), []string{controlplane.WebhookClient}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(context.Background())
	go d.runWithRestarts(klog.NewContext(ctx, klog.Background().WithName("vcd")))
	return d
}

// runWithRestarts runs the daemon and restarts it after a failure, so that a single error does not leave pods without a
// scheduler.
func (d *daemonPart) runWithRestarts(ctx context.Context) {
	defer close(d.done)
	pause := time.Second
	for {
		begun := time.Now()
		err := daemon.Run(ctx, d.options)
		if ctx.Err() != nil {
			return
		}
		klog.FromContext(ctx).Error(err, "Daemon exited; restarting it", "after", pause)
		d.setAllStates(fmt.Sprintf("restarting: %v", err))
		select {
		case d.failed <- err:
		default:
		}
		if time.Since(begun) > steadyAfter {
			pause = time.Second
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longestBackOff)
	}
}

func (d *daemonPart) componentReady(component string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.states[component] = stateReady
	for _, state := range d.states {
		if state != stateReady {
			return
		}
	}
	select {
	case <-d.ready:
	default:
		close(d.ready)
	}
}

func (d *daemonPart) setAllStates(state string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for component := range d.states {
		d.states[component] = state
	}
}

// componentStates returns the state of each component.
func (d *daemonPart) componentStates() map[string]string {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.states)
}

// waitReady waits until all components are ready. If an error prevents this, waitReady returns it.
func (d *daemonPart) waitReady(ctx context.Context, report Reporter) error {
	if d == nil {
		return nil
	}
	select {
	case <-d.ready:
		report.Ready("vcd (scheduler, controllers, admission, accounting)", time.Since(d.begun))
		return nil
	case err := <-d.failed:
		return fmt.Errorf("vcd did not start: %w", err)
	case <-time.After(daemonReadyTimeout):
		return fmt.Errorf("vcd is not ready after %s: %v", daemonReadyTimeout, d.componentStates())
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *daemonPart) stopDaemon() {
	if d == nil {
		return
	}
	d.cancel()
	<-d.done
}
