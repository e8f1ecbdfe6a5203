package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	cliflag "k8s.io/component-base/cli/flag"
	apiserverapp "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const (
	serviceNetwork        = "10.96.0.0/16"
	serviceNetworkFirstIP = "10.96.0.1"
	frontProxyUser        = "vc-local-front-proxy-client"
	mastersGroup          = "system:masters"
	issuer                = "https://kubernetes.default.svc.cluster.local"
	// inflight is generous because all clients run on this machine, and a benchmark should be limited by the machine
	// and not by this setting.
	inflight = "3000"
	// readyPoll is how often a part is checked while it starts.
	readyPoll = 50 * time.Millisecond
)

// apiServerFlags returns the command-line flags of kube-apiserver.
func apiServerFlags(p *PKI, etcdEndpoint string, port int) []string {
	return []string{
		"--etcd-servers=" + etcdEndpoint,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		// The address appears only in the endpoints of the service `kubernetes`, which must not contain a loopback
		// address. Therefore, the endpoints are turned off.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + p.pathOfFile("apiserver.crt"),
		"--tls-private-key-file=" + p.pathOfFile("apiserver.key"),
		"--client-ca-file=" + p.CACert(),
		"--anonymous-auth=false",
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceNetwork,
		"--service-account-issuer=" + issuer,
		"--service-account-key-file=" + p.pathOfFile("service-account.key"),
		"--service-account-signing-key-file=" + p.pathOfFile("service-account.key"),
		"--requestheader-client-ca-file=" + p.pathOfFile("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + p.pathOfFile("front-proxy-client.crt"),
		"--proxy-client-key-file=" + p.pathOfFile("front-proxy-client.key"),
		"--admission-control-config-file=" + p.pathOfFile(admissionFile),
		"--kubelet-certificate-authority=" + p.CACert(),
		"--kubelet-client-certificate=" + p.KubeletClientCert(),
		"--kubelet-client-key=" + p.KubeletClientKey(),
		"--kubelet-preferred-address-types=InternalIP,Hostname",
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=" + inflight,
		"--max-mutating-requests-inflight=" + inflight,
		"--profiling=false",
		"--disable-admission-plugins=" + strings.Join([]string{
			// No certificates are signed in this cluster.
			"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest",
			// Nodes are ready as soon as they are created, so a taint would only cost an additional write per node.
			"TaintNodesByCondition",
		}, ","),
	}
}

// newAPIServer prepares a kube-apiserver. The returned function runs it until its context is done.
func newAPIServer(ctx context.Context, flags []string) (func(context.Context) error, error) {
	releaseInformerName("kube-apiserver")
	options := apiserveroptions.NewServerRunOptions()
	if err := parseFlags("kube-apiserver", options.Flags(), flags); err != nil {
		return nil, err
	}
	if err := options.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("kube-apiserver: %w", err)
	}
	completed, err := options.Complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("kube-apiserver: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("kube-apiserver: %w", errors.Join(errs...))
	}
	return func(ctx context.Context) error { return apiserverapp.Run(ctx, completed) }, nil
}

// waitForAPIServer waits until the API server reports that it is ready.
func waitForAPIServer(ctx context.Context, client kubernetes.Interface, server *part) error {
	var last error
	for {
		request, cancel := context.WithTimeout(ctx, 5*time.Second)
		body, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(request)
		cancel()
		if err == nil {
			return nil
		}
		if last = err; len(body) > 0 {
			last = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(body)))
		}
		select {
		case <-server.done:
			return server.errorOfEnd()
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w", last)
		case <-time.After(readyPoll):
		}
	}
}

// parseFlags parses flags for a component as its command line would.
func parseFlags(component string, sets cliflag.NamedFlagSets, flags []string) error {
	all := pflag.NewFlagSet(component, pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(flags); err != nil {
		return fmt.Errorf("%s: %w", component, err)
	}
	return nil
}
