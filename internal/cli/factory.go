package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/usererror"
)

// Limits of the client. The rate is generous for interactive use and for scripts.
const (
	clientQPS   = 50
	clientBurst = 300
	// dialTimeout is how long to wait for an API server that does not respond.
	dialTimeout = 10 * time.Second
	// PageSize is the number of objects per request when listing objects.
	PageSize = 500
)

// Factory creates clients and other resources when commands first need them. Before that, it reads no kubeconfig and
// opens no connection.
type Factory struct {
	Streams *iostreams.Streams
	// Config holds kubectl's connection flags.
	Config *genericclioptions.ConfigFlags
	// Now returns the current time.
	Now func() time.Time
	// Program is the program name that the user typed: "vcctl" or "kubectl vc".
	Program string
	// OldProgram is the name of Volcano's short program (vsub, vcancel, …) that the user called, or "".
	OldProgram string
	// Dashboard is nil in programs that have no dashboard.
	Dashboard Dashboard

	notes  sync.Mutex // guards the output of Warnf and Notef
	outage outage

	once      sync.Once
	rest      *rest.Config
	client    client.WithWatch
	clientErr error

	settingsOnce sync.Once
	settings     *Settings
	settingsText []byte // content of the settings file
	settingsErr  error
}

// NewFactory returns a factory that uses the given streams.
func NewFactory(program string, streams *iostreams.Streams) *Factory {
	f := &Factory{
		Streams: streams,
		Config:  genericclioptions.NewConfigFlags(true).WithDiscoveryQPS(clientQPS).WithDiscoveryBurst(clientBurst),
		Now:     time.Now,
		Program: program,
	}
	f.Config.WithWrapConfigFn(f.tuneConfig)
	f.Config.WithWarningPrinter(f.ioStreams())
	return f
}

func (f *Factory) ioStreams() genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: f.Streams.In, Out: f.Streams.Out, ErrOut: f.Streams.Err}
}

func (f *Factory) tuneConfig(config *rest.Config) *rest.Config {
	config.QPS, config.Burst = clientQPS, clientBurst
	config.DisableCompression = isLocalServer(config.Host)
	config.UserAgent = "vcctl " + rest.DefaultKubernetesUserAgent()
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	config.WarningHandlerWithContext = warnings{rest.NewWarningWriter(warningLines{f}, rest.WarningWriterOptions{Deduplicate: true})}
	return config
}

// isLocalServer reports whether the server runs on this machine. If so, compressing long lists would cost the server
// and the client more time than it saves.
func isLocalServer(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// WithoutWarnings returns a context for requests for which the server's warnings are not printed.
func WithoutWarnings(ctx context.Context) context.Context {
	return context.WithValue(ctx, noWarnings{}, true)
}

type noWarnings struct{}

// warnings prints the server's warnings, except for requests whose context was returned by WithoutWarnings.
type warnings struct{ printer rest.WarningHandler }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if ctx.Value(noWarnings{}) == nil {
		w.printer.HandleWarningHeader(code, agent, text)
	}
}

// warningLines converts client-go's "Warning: …" lines to the format of vcctl.
type warningLines struct{ f *Factory }

func (w warningLines) Write(line []byte) (int, error) {
	const theirs = "Warning: "
	if len(line) > len(theirs) && string(line[:len(theirs)]) == theirs {
		_, err := fmt.Fprintf(w.f.Streams.Err, "warning: %s", printable.EscapeText(string(line[len(theirs):])))
		return len(line), err
	}
	_, err := io.WriteString(w.f.Streams.Err, printable.EscapeText(string(line)))
	return len(line), err
}

// Warnf writes one warning line to the error stream.
func (f *Factory) Warnf(format string, args ...any) {
	f.notes.Lock()
	defer f.notes.Unlock()
	f.printNote("warning: ", format, args...)
}

func (f *Factory) printNote(before, format string, args ...any) {
	fmt.Fprintln(f.Streams.Err, before+printable.EscapeText(fmt.Sprintf(format, args...)))
}

// Scheme returns a scheme that contains Kubernetes' and vc's kinds, and the kind of CRDs.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(api.AddToScheme(s))
	return s
})

// knownKinds returns a mapper for the kinds that commands use with typed clients, so that these clients need no
// discovery.
func knownKinds() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	add := func(gv schema.GroupVersion, scope meta.RESTScope, kinds ...string) {
		for _, kind := range kinds {
			m.Add(gv.WithKind(kind), scope)
		}
	}
	add(corev1.SchemeGroupVersion, meta.RESTScopeNamespace, "Pod", "Event", "ConfigMap", "Secret", "Service", "PersistentVolumeClaim")
	add(corev1.SchemeGroupVersion, meta.RESTScopeRoot, "Node", "Namespace")
	add(schedulingv1.SchemeGroupVersion, meta.RESTScopeRoot, "PriorityClass")
	add(apiextensionsv1.SchemeGroupVersion, meta.RESTScopeRoot, "CustomResourceDefinition")
	add(admissionregistrationv1.SchemeGroupVersion, meta.RESTScopeRoot, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
	add(appsv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Deployment", "StatefulSet")
	add(coordinationv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Lease")
	add(rbacv1.SchemeGroupVersion, meta.RESTScopeRoot, "ClusterRole", "ClusterRoleBinding")
	add(rbacv1.SchemeGroupVersion, meta.RESTScopeNamespace, "Role", "RoleBinding")
	add(authorizationv1.SchemeGroupVersion, meta.RESTScopeRoot, "SelfSubjectAccessReview")
	add(authenticationv1.SchemeGroupVersion, meta.RESTScopeRoot, "SelfSubjectReview")
	add(accountv1alpha1.GroupVersion, meta.RESTScopeRoot, "Account", "QOS")
	add(batchv1alpha1.GroupVersion, meta.RESTScopeNamespace, "Job", "CronJob")
	add(flowv1alpha1.GroupVersion, meta.RESTScopeNamespace, "JobFlow", "JobTemplate")
	add(busv1alpha1.GroupVersion, meta.RESTScopeNamespace, "Command")
	add(insightv1alpha1.GroupVersion, meta.RESTScopeNamespace, "Plan")
	add(schedulingv1beta1.GroupVersion, meta.RESTScopeNamespace, "PodGroup")
	add(schedulingv1beta1.GroupVersion, meta.RESTScopeRoot, "Queue")
	add(topologyv1alpha1.GroupVersion, meta.RESTScopeRoot, "HyperNode")
	return m
}

// lazyMapper maps known kinds without a request, and uses the cluster's discovery for all others.
type lazyMapper struct {
	meta.RESTMapper
	f *Factory
}

func (m lazyMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if mapping, err := m.RESTMapper.RESTMapping(gk, versions...); err == nil {
		return mapping, nil
	}
	discovered, err := m.f.Config.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	return discovered.RESTMapping(gk, versions...)
}

func (m lazyMapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	mapping, err := m.RESTMapping(gk, versions...)
	if err != nil {
		return nil, err
	}
	return []*meta.RESTMapping{mapping}, nil
}

// Mapper maps kinds to resources. It sends a request to the cluster only for kinds that knownKinds does not contain.
func (f *Factory) Mapper() meta.RESTMapper { return lazyMapper{RESTMapper: knownKinds(), f: f} }

func (f *Factory) connectClient() {
	f.rest, f.clientErr = f.Config.ToRESTConfig()
	if clientcmd.IsEmptyConfig(f.clientErr) {
		f.clientErr = f.missingConfigError()
	}
	if f.clientErr != nil {
		return
	}
	if f.clientErr = f.checkConfigured(); f.clientErr != nil {
		return
	}
	f.client, f.clientErr = client.NewWithWatch(f.rest, client.Options{
		Scheme: Scheme(), Mapper: f.Mapper(), FieldOwner: "vcctl", FieldValidation: "Warn",
	})
}

// checkConfigured rejects client-go's default server, http://localhost:8080, which is hardly ever what a user without a
// kubeconfig wants.
func (f *Factory) checkConfigured() error {
	if (f.rest.Host != "http://localhost:8080" && f.rest.Host != "localhost:8080") || *f.Config.APIServer != "" {
		return nil
	}
	if raw, err := f.Config.ToRawKubeConfigLoader().RawConfig(); err != nil || len(raw.Clusters) > 0 {
		return err
	}
	return f.missingConfigError()
}

// missingConfigError returns the error for a missing cluster configuration. It lists the kubeconfig files that were
// tried.
func (f *Factory) missingConfigError() error {
	source, files := "--kubeconfig", []string{*f.Config.KubeConfig}
	if files[0] == "" {
		source, files = "KUBECONFIG", filepath.SplitList(f.Streams.Env("KUBECONFIG"))
	}
	var wrong []string
	for _, file := range files {
		if file == os.DevNull || file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: file %q does not exist", source, file))
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s: file %q is not a kubeconfig or does not define a cluster", source, file))
	}
	if len(wrong) == 0 {
		return usererror.Errorf("set KUBECONFIG or --kubeconfig, or start a cluster on this machine with `vc-local up`", "no cluster is configured")
	}
	return usererror.Errorf("set KUBECONFIG or --kubeconfig to a kubeconfig file, or start a cluster on this machine with `vc-local up`",
		"no cluster is configured: %s", strings.Join(wrong, "; "))
}

// Client returns the typed client for vc's kinds and the kinds of knownKinds.
func (f *Factory) Client() (client.WithWatch, error) {
	f.once.Do(f.connectClient)
	return f.client, f.clientErr
}

// RESTConfig returns the connection settings of the cluster.
func (f *Factory) RESTConfig() (*rest.Config, error) {
	f.once.Do(f.connectClient)
	return f.rest, f.clientErr
}

// Clientset returns Kubernetes' own client, for logs and discovery.
func (f *Factory) Clientset() (kubernetes.Interface, error) {
	config, err := f.RESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// Namespace returns the namespace given by the flag or, without the flag, by the context.
func (f *Factory) Namespace() (string, error) {
	namespace, _, err := f.Config.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

// NamespaceGiven reports whether the namespace was given by a flag.
func (f *Factory) NamespaceGiven() bool {
	return f.Config.Namespace != nil && *f.Config.Namespace != ""
}

// CommandText returns a vcctl command as the user would type it, including -n if the user has used it.
func (f *Factory) CommandText(command string) string {
	text := f.Program + " " + command
	if f.NamespaceGiven() {
		text += " -n " + *f.Config.Namespace
	}
	return text
}

// Builder returns a builder that reads files, directories, URLs and standard input.
func (f *Factory) Builder() *resource.Builder { return resource.NewBuilder(f.Config) }

// DescribeConnection describes the connection, for error messages. It never fails.
func (f *Factory) DescribeConnection() Connection {
	where := Connection{Program: f.Program}
	if f.rest != nil {
		where.Server = f.rest.Host
	}
	raw, err := f.Config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return where
	}
	where.Context = raw.CurrentContext
	if f.Config.Context != nil && *f.Config.Context != "" {
		where.Context = *f.Config.Context
	}
	if current := raw.Contexts[where.Context]; current != nil {
		where.User = current.AuthInfo
		if cluster := raw.Clusters[current.Cluster]; cluster != nil && where.Server == "" {
			where.Server = cluster.Server
		}
	}
	return where
}
