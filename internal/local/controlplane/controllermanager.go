package controlplane

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/configz"
	kcmapp "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kcmoptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// idleControllers lists controllers for features that do not exist on a single machine: clouds, certificate requests,
// joining nodes, attachable disks, autoscaling by metrics.
var idleControllers = []string{
	names.BootstrapSignerController,
	names.TokenCleanerController,
	names.NodeIpamController,
	names.CertificateSigningRequestSigningController,
	names.CertificateSigningRequestApprovingController,
	names.CertificateSigningRequestCleanerController,
	names.PodCertificateRequestCleanerController,
	names.KubeAPIServerClusterTrustBundlePublisherController,
	names.PersistentVolumeAttachDetachController,
	names.PersistentVolumeExpanderController,
	names.HorizontalPodAutoscalerController,
	names.TTLController,
	names.LegacyServiceAccountTokenCleanerController,
	names.StorageVersionGarbageCollectorController,
	names.StorageVersionMigratorController,
	names.SELinuxWarningController,
	names.EndpointSliceMirroringController,
}

// controllerManagerFlags returns the command-line flags of kube-controller-manager.
func controllerManagerFlags(p *PKI, kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=0",
		"--leader-elect=false",
		"--controllers=*,-" + strings.Join(idleControllers, ",-"),
		"--root-ca-file=" + p.CACert(),
		"--service-account-private-key-file=" + p.pathOfFile("service-account.key"),
		"--service-cluster-ip-range=" + serviceNetwork,
		// All controllers share one client, because a service account for each of them would take a second at startup,
		// and each of them would need its own connection.
		"--use-service-account-credentials=false",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		// Nodes run in this process, so their heartbeats stop only if this process stops. Heartbeats are sent rarely,
		// which makes 5,000 nodes possible.
		"--node-monitor-grace-period=10m",
		"--controller-shutdown-timeout=5s",
		"--profiling=false",
	}
}

// newControllerManager prepares a kube-controller-manager. The returned function runs it until its context is done.
func newControllerManager(flags []string) (func(context.Context) error, error) {
	options, err := kcmoptions.NewKubeControllerManagerOptions()
	if err != nil {
		return nil, fmt.Errorf("kube-controller-manager: %w", err)
	}
	known, disabled, aliases := kcmapp.KnownControllers(), kcmapp.ControllersDisabledByDefault(), kcmapp.ControllerAliases()
	if err := parseFlags("kube-controller-manager", options.Flags(known, disabled, aliases), flags); err != nil {
		return nil, err
	}
	// The configuration page can be registered only once per process, and an earlier control plane in this process may
	// have registered it.
	configz.Delete(kcmapp.ConfigzName)
	releaseInformerName("kube-controller-manager")
	return func(ctx context.Context) error {
		config, err := options.Config(ctx, known, disabled, aliases)
		if err != nil {
			return err
		}
		return kcmapp.Run(ctx, config.Complete())
	}, nil
}

// waitForControllers waits until the controllers have created the service account that every pod in namespace
// `default` needs.
func waitForControllers(ctx context.Context, client kubernetes.Interface, manager *part) error {
	for {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		if !apierrors.IsNotFound(err) && ctx.Err() == nil {
			return fmt.Errorf("kube-controller-manager: %w", err)
		}
		select {
		case <-manager.done:
			return manager.errorOfEnd()
		case <-ctx.Done():
			return fmt.Errorf("kube-controller-manager has not created the service account default/default: %w", ctx.Err())
		case <-time.After(readyPoll):
		}
	}
}
