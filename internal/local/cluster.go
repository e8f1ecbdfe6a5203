package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/accounting/serve"
	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/joblist"
	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/processnode"
	"github.com/vc-batch/vc/internal/usererror"
)

// cluster is the state of one Run.
type cluster struct {
	settings Settings
	report   Reporter
	record   Record

	plane   *controlplane.ControlPlane
	client  kubernetes.Interface
	nodes   *nodeSet
	daemon  *daemonPart
	volumes *volumes
	metrics *metricsPart
	control *controlServer
}

// ErrRunning is returned by Run if another process is already running the cluster.
var ErrRunning = errors.New("the cluster is already running")

// Run starts a cluster, reports the progress, and keeps the cluster running until ctx is done or a part of it fails. It
// returns after all parts have ended. It returns nil if ctx was done, and otherwise the error that prevented the start
// or ended the cluster.
func Run(ctx context.Context, s Settings, report Reporter) (err error) {
	if err := s.Dir.Create(); err != nil {
		return err
	}
	held, err := takeOverDir(s.Dir)
	if errors.Is(err, errLocked) {
		return ErrRunning
	}
	if err != nil {
		return err
	}
	defer held.releaseLock()

	// A killed process may have left mounts and networks.
	if err := processnode.CleanUpNodes(s.Dir.nodesDir()); err != nil {
		report.Note(fmt.Sprintf("mounts and networks of the last run could not be removed: %v", err))
	}
	if wasEphemeral(s.Dir) {
		if err := s.Dir.clearContents(); err != nil {
			return err
		}
	}
	c := &cluster{settings: s, report: report, record: newOwnRecord()}
	if err := s.Dir.writeRecord(c.record); err != nil {
		return explainFullDisk(s.Dir, err)
	}
	defer func() { err = errors.Join(err, c.removeRecord()) }()
	// Save the settings first, because `down` needs them to clean up.
	if _, kept, _ := LoadSettings(s.Dir); !kept {
		if err := s.saveSettings(); err != nil {
			return explainFullDisk(s.Dir, err)
		}
	}
	err = c.startAllParts(ctx)
	if err == nil {
		err = c.waitForStop(ctx)
	}
	c.stopAllParts()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// newOwnRecord returns the initial record of this process.
func newOwnRecord() Record {
	start, _ := processStart(os.Getpid())
	return Record{PID: os.Getpid(), Started: time.Now(), ProcessStart: start}
}

// startAllParts starts the parts of the cluster. Each part is started when the parts that it depends on are ready.
func (c *cluster) startAllParts(ctx context.Context) error {
	if err := c.startControlPlane(ctx); err != nil { // 1. API server, the project's kinds, Kubernetes' controllers
		return err
	}
	if c.settings.Components == ComponentsAPI {
		// If the last daemon was killed, its aggregated APIs have no server, which would prevent the deletion of
		// namespaces.
		for _, group := range []aggregatedapi.Group{joblist.Group, serve.Group} {
			if err := group.RemoveRegistration(ctx, c.plane.RESTConfig()); err != nil {
				return err
			}
		}
	}
	c.daemon = startDaemon(c.settings, c.plane) // 2. scheduler, controllers and admission, in parallel with:
	var err error
	if c.nodes, err = newNodeSet(c.settings, c.plane, c.report); err != nil {
		return err
	}
	if err := c.nodes.startNodes(ctx, c.settings.Nodes); err != nil { // 3. nodes
		return err
	}
	if c.volumes, err = startVolumes(ctx, c.client, c.settings.Dir.volumesDir()); err != nil { // 4. volumes
		return err
	}
	if c.metrics, err = startMetrics(ctx, c.plane.RESTConfig(), c.client, c.nodes); err != nil { // 5. use of process nodes
		return err
	}
	if err := slurmProfile(ctx, c.client); err != nil {
		return err
	}
	if err := slurmRights(ctx, c.client); err != nil {
		return err
	}
	if err := c.daemon.waitReady(ctx, c.report); err != nil {
		return err
	}
	if c.control, err = startControl(c); err != nil { // 6. server for status and nodes
		return err
	}
	return c.publishRecord()
}

func (c *cluster) startControlPlane(ctx context.Context) error {
	port, err := c.choosePort()
	if err != nil {
		return err
	}
	// ctx ends the start. Afterwards, the control plane runs until the nodes have written the ends of their pods.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopFollowing := context.AfterFunc(ctx, cancel)
	defer stopFollowing()
	c.plane, err = controlplane.Start(running, controlplane.Options{
		Dir:       string(c.settings.Dir),
		Port:      port,
		Ephemeral: c.settings.Ephemeral,
		Kinds:     installCRDs,
		Progress:  c.report.Ready,
	})
	if err != nil {
		cancel()
		return c.explainStart(err)
	}
	c.settings.Port = c.plane.Port()
	c.client, err = kubernetes.NewForConfig(c.plane.RESTConfig())
	return err
}

// choosePort returns the requested port. If no port was requested, it returns the port from the last run if that is
// free, and otherwise 0, which means any free port.
func (c *cluster) choosePort() (int, error) {
	port := c.settings.Port
	if port == 0 || controlplane.IsPortFree(port) {
		return port, nil
	}
	if c.settings.PortAsked {
		return 0, usererror.Wrapf("specify another --port, or omit it to use a free port", "port %d on 127.0.0.1 is in use", port)
	}
	c.report.Note(fmt.Sprintf("the last run used port %d, which another process uses now; the cluster gets another port, and the kubeconfig changes", port))
	return 0, nil
}

func (c *cluster) explainStart(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, controlplane.ErrPortInUse):
		return usererror.Wrapf("specify another --port, or omit it to use a free port", "%v", err)
	}
	if full := c.settings.Dir.checkFreeSpace(); full != nil {
		return full
	}
	return usererror.Wrapf("see "+c.settings.Dir.ControlPlaneLog()+"; if the state is damaged, remove it with: vc-local down --purge --dir "+string(c.settings.Dir),
		"the control plane did not start: %v", err)
}

// explainFullDisk returns an error for a failed write: an error about a full disk if too little space is free, and
// otherwise err with a hint.
func explainFullDisk(d Dir, err error) error {
	if full := d.checkFreeSpace(); full != nil {
		return full
	}
	return usererror.Wrapf("check that you have write permission for "+string(d), "%v", err)
}

// publishRecord publishes the record of the running cluster, so that other processes can find it.
func (c *cluster) publishRecord() error {
	c.settings.Complete = true
	if err := c.settings.saveSettings(); err != nil {
		return explainFullDisk(c.settings.Dir, err)
	}
	c.record.Ready = true
	c.record.Server = c.plane.APIServerURL()
	c.record.Kubeconfig = c.plane.KubeconfigPath()
	c.record.Socket = c.control.path
	if c.settings.Kubeconfig != "" {
		if err := copyKubeconfig(c.plane.KubeconfigPath(), c.settings.Kubeconfig); err != nil {
			return err
		}
		c.record.Kubeconfig = c.settings.Kubeconfig
	}
	if err := c.settings.Dir.writeRecord(c.record); err != nil {
		return explainFullDisk(c.settings.Dir, err)
	}
	c.report.Up(c.record)
	return nil
}

// waitForStop waits until the cluster must be stopped. It returns nil if ctx is done.
func (c *cluster) waitForStop(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-c.plane.Done():
		if err := c.plane.Err(); err != nil {
			return usererror.Wrapf("see "+c.settings.Dir.ControlPlaneLog(), "the control plane exited: %v", err)
		}
		return nil
	}
}

// stopAllParts stops the parts in reverse order. Parts that were never started are nil.
func (c *cluster) stopAllParts() {
	c.control.stopServer()
	c.daemon.stopDaemon()
	c.metrics.stop()
	c.volumes.stopVolumes()
	c.nodes.stopAllNodes()
	if c.plane != nil {
		c.plane.Stop()
	}
	klog.Flush()
}

// removeRecord removes the record of the process. If the cluster is ephemeral, it removes the whole cluster.
func (c *cluster) removeRecord() error {
	err := os.Remove(c.settings.Dir.recordFile())
	if c.settings.Ephemeral {
		if c.settings.Kubeconfig != "" {
			_ = os.Remove(c.settings.Kubeconfig)
		}
		err = errors.Join(processnode.CleanUpNodes(c.settings.Dir.nodesDir()), c.settings.Dir.removeClusterDir())
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
