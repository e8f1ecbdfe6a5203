package processnode

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/local/processnode/environ"
	"github.com/vc-batch/vc/internal/local/processnode/logfile"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// keptLogs is the number of attempts whose logs are kept: the current one and the previous one.
const keptLogs = 2

func (w *worker) logPath(container string, number int) string {
	return logPath(w.dir, container, number)
}

func logPath(podDir, container string, number int) string {
	return filepath.Join(podDir, "logs", container, strconv.Itoa(number)+".log")
}

// launchContainer starts an attempt to run a container.
func (w *worker) launchContainer(spec *corev1.Container, number int, api *corev1.Pod) (*attempt, error) {
	w.mu.Lock()
	podEnv := w.podEnv
	w.mu.Unlock()
	if podEnv == nil {
		return nil, errors.New("the pod is being deleted")
	}
	a := &attempt{
		worker: w, spec: spec, pod: api, number: number, startedAt: time.Now(),
		id:        fmt.Sprintf("process://%s/%s/%d", w.uid, spec.Name, number),
		directory: filepath.Join(w.dir, "containers", spec.Name+"-"+strconv.Itoa(number)),
	}
	if err := a.configureProcess(podEnv); err != nil {
		return nil, configError{err}
	}
	description, err := a.describeContainer(podEnv)
	if err != nil {
		return nil, configError{err}
	}
	if err := a.openStreams(); err != nil {
		return nil, err
	}
	if a.group, err = w.node.machine.groups.NewLimitedGroup(fmt.Sprintf("%s-%s-%d", w.uid, spec.Name, number), cgroup.LimitsOf(spec.Resources)); err != nil {
		w.node.recordPodEvent(api, corev1.EventTypeWarning, "LimitsNotEnforced", err.Error())
		a.group = &cgroup.Group{}
	}
	for _, view := range a.group.MemoryViews() {
		description.Mounts = append(description.Mounts, shim.Mount{Source: view.Source, Target: view.Target, ReadOnly: true, Options: "mode=755,size=4k", Optional: true})
	}
	a.container, err = sandbox.Start(w.node.machine.permitted.Level, description, podEnv.namespaces, a.streams.files, a.group.AddProcess)
	a.streams.closeProcessEnds()
	if err != nil {
		a.streams.drainFiles(0)
		a.log.Close()
		a.group.RemoveGroup()
		return nil, err
	}
	return a, nil
}

// configureProcess computes the environment, the arguments and the user of the process.
func (a *attempt) configureProcess(podEnv *podEnvironment) error {
	node := a.worker.node
	env, err := environ.BuildEnvironment(a.pod, a.spec, podEnv.services, podEnv.environFacts(), node.lookups.environSources(node.ctx, a.pod.Namespace))
	if err != nil {
		return err
	}
	env = append([]string{"HOSTNAME=" + podEnv.hostname}, env...)
	if node.machine.permitted.Root == shim.RootNone {
		env = append(env, "VC_VOLUMES="+filepath.Join(a.worker.dir, "volumes"))
	}
	if a.spec.TTY {
		env = append([]string{"TERM=xterm"}, env...)
	}
	a.process = shim.Process{
		Args: append(environ.ExpandArguments(a.spec.Command, env), environ.ExpandArguments(a.spec.Args, env)...),
		Env:  env, Dir: a.spec.WorkingDir, TTY: a.spec.TTY,
	}
	return setIdentity(&a.process, a.pod.Spec.SecurityContext, a.spec.SecurityContext)
}

// setIdentity sets the user and the groups of the process. The container's security context takes precedence over the
// pod's. Without root privileges, all processes run as the current user.
func setIdentity(process *shim.Process, pod *corev1.PodSecurityContext, container *corev1.SecurityContext) error {
	var nonRoot *bool
	if pod != nil {
		process.UID, process.GID, nonRoot = pod.RunAsUser, pod.RunAsGroup, pod.RunAsNonRoot
		process.Groups = append(process.Groups, pod.SupplementalGroups...)
		if pod.FSGroup != nil {
			process.Groups = append(process.Groups, *pod.FSGroup)
		}
	}
	if container != nil {
		if container.RunAsUser != nil {
			process.UID = container.RunAsUser
		}
		if container.RunAsGroup != nil {
			process.GID = container.RunAsGroup
		}
		if container.RunAsNonRoot != nil {
			nonRoot = container.RunAsNonRoot
		}
	}
	if os.Geteuid() != 0 {
		process.UID, process.GID, process.Groups = nil, nil, nil
		return nil
	}
	mustNotBeRoot := nonRoot != nil && *nonRoot
	wouldBeRoot := process.UID == nil || *process.UID == 0
	if mustNotBeRoot && wouldBeRoot {
		return errors.New("container has runAsNonRoot but would run as root: set runAsUser")
	}
	return nil
}

// describeContainer returns the description from which the container's file system and namespaces are created.
func (a *attempt) describeContainer(podEnv *podEnvironment) (*shim.Container, error) {
	node := a.worker.node
	permitted := node.machine.permitted
	mounts, err := podEnv.containerMounts(a.worker, a.spec, a.process.Env)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(a.directory, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(a.terminationPath(), nil, 0o666); err != nil {
		return nil, err
	}
	// Any user in the container must be able to write the file.
	if err := os.Chmod(a.terminationPath(), 0o666); err != nil {
		return nil, err
	}
	target := a.spec.TerminationMessagePath
	target = cmp.Or(target, defaultLogTarget)
	description := &shim.Container{
		Root: permitted.Root, Dir: a.directory, SubRoots: node.machine.roots, Masked: node.maskedPaths(),
		OwnPID: permitted.Level != sandbox.LevelPlain, OwnUser: permitted.Level == sandbox.LevelUser, OwnNet: podEnv.namespaces.Net != nil,
		Mounts: append(mounts, shim.Mount{Source: a.terminationPath(), Target: target}), Process: a.process,
	}
	if permitted.Level != sandbox.LevelPlain && !a.pod.Spec.HostNetwork {
		description.Hostname = podEnv.hostname
	}
	if context := a.spec.SecurityContext; context != nil && context.ReadOnlyRootFilesystem != nil {
		description.ReadOnly = *context.ReadOnlyRootFilesystem
	}
	return description, nil
}

func (a *attempt) terminationPath() string { return filepath.Join(a.directory, terminationFile) }

// openStreams opens the log file and the streams.
func (a *attempt) openStreams() error {
	path := a.worker.logPath(a.spec.Name, a.number)
	log, err := logfile.Create(path, time.Now)
	if err != nil {
		return err
	}
	old := a.worker.logPath(a.spec.Name, a.number-keptLogs)
	_ = os.Remove(old)
	_ = os.Remove(old + logfile.OldSuffix)
	a.log = log
	a.streams, err = openStreams(a.spec, log)
	if err != nil {
		log.Close()
	}
	return err
}
