// Package version is `vcctl version`: what this client is, and what the cluster
// it talks to is.
package version

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

// Version, GitSHA and BuiltAt are set by the linker:
//
//	-ldflags "-X github.com/vc-batch/vc/internal/cli/version.Version=v0.1.0 …"
//
// What is not set is taken from what Go recorded at the build.
var (
	Version = ""
	GitSHA  = ""
	BuiltAt = ""
)

type options struct {
	f      *cli.Factory
	format string
	client bool
}

// Info is the answer, for -o json and yaml.
type Info struct {
	Client Client  `json:"client"`
	Server *Server `json:"server,omitempty"`
}

// Client describes this binary.
type Client struct {
	APIVersion string `json:"apiVersion"`
	Version    string `json:"version"`
	GitSHA     string `json:"gitSHA"`
	BuiltAt    string `json:"builtAt"`
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"`
}

// Server describes the cluster.
type Server struct {
	Address    string   `json:"address"`
	Kubernetes string   `json:"kubernetes"`
	APIs       []string `json:"apis"`
	Missing    []string `json:"missing,omitempty"`
}

// New returns `vcctl version`.
func New(f *cli.Factory) *cobra.Command { return newVersion(f, run) }

func newVersion(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of this client and of the cluster",
		Long: cli.Text(`
			Show the version of this client, the version of the cluster's Kubernetes, and
			which of our APIs the cluster serves. A cluster that cannot be reached is a
			warning, not an error.`),
		Example: f.Examples(`
			# Client and cluster
			vcctl version

			# The client only, for a script
			vcctl version --client -o json`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.format != "" && o.format != "json" && o.format != "yaml" {
				return cli.UsageError(f, cmd, "--output: %q is neither json nor yaml", o.format)
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "Format: json or yaml")
	cmd.Flags().BoolVar(&o.client, "client", false, "Do not ask the cluster")
	_ = cmd.RegisterFlagCompletionFunc("output", cli.Values("json", "yaml"))
	return cmd
}

// Self describes this binary.
func Self() Client {
	c := Client{
		APIVersion: batchv1alpha1.GroupVersion.Version,
		Version:    Version, GitSHA: GitSHA, BuiltAt: BuiltAt,
		GoVersion: runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision" && c.GitSHA == "":
				c.GitSHA = setting.Value
			case setting.Key == "vcs.time" && c.BuiltAt == "":
				c.BuiltAt = setting.Value
			}
		}
		if c.Version == "" {
			c.Version = strings.Trim(info.Main.Version, "()")
		}
	}
	for _, field := range []*string{&c.Version, &c.GitSHA, &c.BuiltAt} {
		if *field == "" {
			*field = "unknown"
		}
	}
	return c
}

func run(_ context.Context, o *options) error {
	info := Info{Client: Self()}
	if !o.client {
		server, err := ask(o.f)
		if err != nil {
			human := cli.Humanize(err, o.f.Where())
			o.f.Warnf("%s", human.What)
		}
		info.Server = server
	}
	return show(o, info)
}

// ask reads the version of the cluster and which of our APIs it serves.
func ask(f *cli.Factory) (*Server, error) {
	shared, err := f.RESTConfig()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(shared)
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	kubernetes, err := client.ServerVersion()
	if err != nil {
		return nil, err
	}
	server := &Server{Address: config.Host, Kubernetes: kubernetes.GitVersion, APIs: []string{}}
	groups, err := client.ServerGroups()
	if err != nil {
		return server, err
	}
	for _, want := range []string{
		batchv1alpha1.GroupVersion.String(), schedulingv1beta1.GroupVersion.String(), busv1alpha1.GroupVersion.String(),
	} {
		if serves(groups, want) {
			server.APIs = append(server.APIs, want)
		} else {
			server.Missing = append(server.Missing, want)
		}
	}
	return server, nil
}

func serves(groups *metav1.APIGroupList, groupVersion string) bool {
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			if version.GroupVersion == groupVersion {
				return true
			}
		}
	}
	return false
}

func show(o *options, info Info) error {
	out := o.f.Streams.Out
	switch o.format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "    ")
		return encoder.Encode(info)
	case "yaml":
		text, err := yaml.Marshal(info)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	c := info.Client
	fmt.Fprintf(out, "API Version: %s\nVersion: %s\nGit SHA: %s\nBuilt At: %s\nGo Version: %s\nGo OS/Arch: %s\n",
		c.APIVersion, c.Version, c.GitSHA, c.BuiltAt, c.GoVersion, c.Platform)
	if s := info.Server; s != nil {
		fmt.Fprintf(out, "Server: %s\nServer Kubernetes: %s\nServer APIs: %s\n", s.Address, s.Kubernetes, strings.Join(s.APIs, ", "))
		if len(s.Missing) > 0 {
			o.f.Warnf("the cluster does not serve %s: is vc installed there?", strings.Join(s.Missing, ", "))
		}
	}
	return nil
}
