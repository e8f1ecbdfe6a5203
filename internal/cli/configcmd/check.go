package configcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/usererror"
)

type checkOptions struct {
	f         *cli.Factory
	file      string
	namespace string
	out       cli.Value
	strict    bool
}

// Report is the result of the check, for -o json and yaml.
type Report struct {
	// Source is the file, or the source of the running scheduler's configuration.
	Source string `json:"source"`
	// Valid is true if the scheduler accepts the configuration. For the running scheduler, it is true if the
	// scheduler has not rejected the current content of its file.
	Valid bool `json:"valid"`
	// Error is the reason why the configuration is invalid.
	Error string `json:"error,omitempty"`
	// Warnings lists settings without effect.
	Warnings []string `json:"warnings,omitempty"`
	// Actions and Tiers are the settings in effect or, if a file is checked, the settings in the file.
	Actions []string   `json:"actions,omitempty"`
	Tiers   [][]string `json:"tiers,omitempty"`
}

func newCheck(f *cli.Factory, run func(context.Context, *checkOptions) error) *cobra.Command {
	o := &checkOptions{f: f}
	cmd := &cobra.Command{
		Use:   "check [-f FILE]",
		Short: "Check a configuration or show the active configuration",
		Long: cli.FormatHelp(`
			With -f, read a volcano-scheduler.conf (or the ConfigMap that contains one) as
			the scheduler would, and list its errors and the settings that have no effect.
			The cluster is not contacted.

			Without -f, show the configuration that the running scheduler uses, and whether
			it has rejected the current version of its file.

			The exit code is 1 if the configuration is invalid, and with --strict also if
			some of its settings have no effect.`),
		Example: f.FormatExamples(`
			# A file that is not installed yet
			vcctl config check -f volcano-scheduler.conf

			# The configuration of the running scheduler
			vcctl config check

			# In a pipeline: also fail if a setting has no effect
			vcctl config check --strict -f volcano-scheduler.conf`),
		Args: cli.NoFileArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.out.Validate(); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "File to check; - means standard input")
	flags.StringVar(&o.namespace, "scheduler-namespace", "volcano-system", "Namespace in which the scheduler runs")
	o.out.AddFlag(cmd)
	flags.BoolVar(&o.strict, "strict", false, "Fail if a setting has no effect")
	cli.RejectTogether(cmd, "a file is checked without contacting the cluster", "filename", "scheduler-namespace")
	_ = cmd.RegisterFlagCompletionFunc("scheduler-namespace", f.CompleteNamespaces())
	_ = cmd.MarkFlagFilename("filename", "conf", "yaml", "yml")
	return cmd
}

func checkConfiguration(ctx context.Context, o *checkOptions) error {
	report, err := o.createReport(ctx)
	if err != nil {
		return err
	}
	if err := o.printReport(report); err != nil {
		return err
	}
	switch {
	case !report.Valid && o.file == "":
		return usererror.Errorf("correct the file; the scheduler reads it every few seconds",
			"the scheduler rejected the current version of its configuration: %s; an older version is active", report.Error)
	case !report.Valid:
		return usererror.Errorf("correct the file and check it again; until then, the scheduler keeps its current configuration", "%s: %s", report.Source, report.Error)
	case o.strict && len(report.Warnings) > 0:
		return usererror.Errorf("remove the settings that have no effect, or omit --strict", "%s: %s", report.Source, countWarnings(len(report.Warnings)))
	}
	return nil
}

func countWarnings(n int) string {
	if n == 1 {
		return "1 warning"
	}
	return fmt.Sprintf("%d warnings", n)
}

func (o *checkOptions) createReport(ctx context.Context) (Report, error) {
	if o.file == "" {
		return o.readRunning(ctx)
	}
	source, data := o.file, []byte(nil)
	var err error
	if source == "-" {
		source = "standard input"
		data, err = o.f.Streams.ReadAll()
	} else {
		data, err = os.ReadFile(source)
	}
	if errors.Is(err, context.Canceled) {
		return Report{}, err
	}
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		return Report{}, usererror.Errorf("specify the path of a volcano-scheduler.conf file with -f", "file %q: %v", source, err)
	}
	return CheckText(source, data), nil
}

// CheckText parses and validates a configuration as the scheduler would.
func CheckText(source string, data []byte) Report {
	r := Report{Source: source}
	cfg, warnings, err := config.Parse(data)
	if err != nil {
		r.Error, r.Warnings = err.Error(), warnings
		return r
	}
	if err := extender.RegisterPolicy(); err != nil {
		r.Error = err.Error()
		return r
	}
	engine, err := scheduler.New(cfg)
	if err != nil {
		r.Error, r.Warnings = err.Error(), warnings
		return r
	}
	r.Valid, r.Actions, r.Warnings = true, cfg.Actions, append(warnings, engine.Warnings...)
	for _, tier := range cfg.Tiers {
		names := []string{}
		for _, p := range tier.Plugins {
			names = append(names, p.Name)
		}
		r.Tiers = append(r.Tiers, names)
	}
	return r
}

// readRunning reads the status that the running scheduler publishes about its configuration.
func (o *checkOptions) readRunning(ctx context.Context) (Report, error) {
	c, err := o.f.Client()
	if err != nil {
		return Report{}, err
	}
	var state corev1.ConfigMap
	key := client.ObjectKey{Namespace: o.namespace, Name: keys.ConfigurationName}
	if err := c.Get(ctx, key, &state); err != nil {
		if apierrors.IsNotFound(err) {
			return Report{}, usererror.Errorf("start a scheduler, specify its namespace with --scheduler-namespace, or check a file with -f",
				"no scheduler has reported its configuration in namespace %s", o.namespace)
		}
		return Report{}, err
	}
	r := CheckText(state.Data[keys.ConfigurationSource], []byte(state.Data[keys.ConfigurationText]))
	r.Warnings = nil
	if text := state.Data[keys.ConfigurationWarnings]; text != "" {
		r.Warnings = strings.Split(text, "\n")
	}
	r.Error = state.Data[keys.ConfigurationRefused]
	r.Valid = r.Error == ""
	return r, nil
}

func (o *checkOptions) printReport(r Report) error {
	if done, err := o.out.PrintAnswer(o.f, r); done {
		return err
	}
	for _, w := range r.Warnings {
		o.f.Warnf("%s", w)
	}
	if len(r.Actions) == 0 {
		return nil
	}
	out := o.f.Streams.Out
	fmt.Fprintf(out, "Source:   %s\nActions:  %s\n", r.Source, strings.Join(r.Actions, ", "))
	for i, tier := range r.Tiers {
		fmt.Fprintf(out, "Tier %d:   %s\n", i+1, strings.Join(tier, ", "))
	}
	return nil
}
