// Package doctor implements `vcctl doctor`, which checks an installation of vc and prints a remedy for each problem.
//
//	In:   objects of the cluster, reviews of rights, the API server's clock; each check reads its facts
//	Out:  findings, as a report
//
// # Invariants
//
//   - A check consists of a function that reads facts and a pure function that turns facts into findings.
//   - If the user may not read something, the finding is skipped, not failed.
//   - The probe job is deleted before the command returns, also if the command is interrupted.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// readTimeout is the time limit for the reads of one check.
	readTimeout = 20 * time.Second
	// defaultProbeImage is the image of the probe job, and defaultProbeCommand is its command.
	defaultProbeImage   = "busybox"
	defaultProbeCommand = "true"
)

type options struct {
	f              *cli.Factory
	out            cli.Value
	timeout        time.Duration
	probeNamespace string
	probeAccount   string
	image          string
	noProbe        bool
}

// New returns `vcctl doctor`.
func New(f *cli.Factory) *cobra.Command { return newDoctor(f, runDoctor) }

func newDoctor(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation of vc and say what to do",
		Long: cli.FormatHelp(`
			Check the installation of vc in the cluster. The report says what to do about
			each finding. The checks are:

			` + describeChecks() + `

			-n is the namespace of the installation (default ` + deploy.Namespace + `). A check is
			skipped if you may not read what it needs. The exit code is 1 if a check failed.

			The probe job runs one small pod in --probe-namespace, and is deleted at the end.
			Where each job must have an account, it has --probe-account, by default your own.
			Its pod needs an image that the nodes can pull; choose another one with --image.
			With --image, the pod runs the image's own command.`),
		Example: f.FormatExamples(`
			# Check the installation
			vcctl doctor

			# Only read; create no job
			vcctl doctor --no-probe -o json

			# With an image from a registry of your own
			vcctl doctor --image registry.example.com/pause:3.10 --timeout 2m`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	o.out.AddFlag(cmd)
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "Maximum time to wait for the probe job")
	flags.BoolVar(&o.noProbe, "no-probe", false, "Do not create a probe job")
	flags.StringVar(&o.probeNamespace, "probe-namespace", "default", "Namespace of the probe job")
	flags.StringVar(&o.probeAccount, "probe-account", "", "Account of the probe job (default: your default account)")
	flags.StringVar(&o.image, "image", defaultProbeImage, "Image of the probe job's pod")
	_ = cmd.RegisterFlagCompletionFunc("probe-namespace", f.CompleteNamespaces())
	_ = cmd.RegisterFlagCompletionFunc("probe-account", cobra.NoFileCompletions)
	cli.RejectTogether(cmd, "--no-probe creates no job", "no-probe", "image")
	cli.RejectTogether(cmd, "--no-probe creates no job", "no-probe", "probe-account")
	cli.RejectTogether(cmd, "--no-probe creates no job", "no-probe", "timeout")
	return cmd
}

// describeChecks returns the names of the checks and what they check, for the help text.
func describeChecks() string {
	var lines []string
	for _, c := range checks() {
		lines = append(lines, fmt.Sprintf("  %-*s %s", nameWidth, c.name, c.about))
	}
	return strings.Join(lines, "\n\t\t\t")
}

func (o *options) validate() error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	if o.timeout <= 0 {
		return usererror.Errorf("use a duration such as 2m, or --no-probe", "--timeout %s: the duration must be positive", o.timeout)
	}
	return nil
}

// check is one check of the installation.
type check struct {
	name string
	// about describes what is checked, for the help text.
	about string
	run   func(context.Context, *reader) []Finding
}

// checks returns all checks in the order in which they run.
func checks() []check {
	return []check{
		{"versions", "versions of vcctl, vc's components and Kubernetes", checkVersions},
		{"crds", "definitions of vc's kinds: present, served, up to date", checkCRDs},
		{"clock", "clocks of this machine, the API server and the components", checkClock},
		{"access", "your rights, and the rights of vc's service accounts", checkAccess},
		{"leases", "leaders of the scheduler, the controllers and accounting", checkLeases},
		{"certificates", "certificates: present, valid, matching", checkCertificates},
		{"webhooks", "webhooks and admission policies: present and reached", checkWebhooks},
		{"configuration", "configuration of the scheduler", checkConfiguration},
		{"queues", "queues root and default", checkQueues},
		{"accounting", "the accounting database answers and stores records in time", checkAccounting},
		{"probe", "a small job starts", checkProbe},
	}
}

// runDoctor runs all checks and prints the report.
func runDoctor(ctx context.Context, o *options) error {
	r, err := newReader(ctx, o)
	if err != nil {
		return err
	}
	report := &Report{Namespace: r.namespace, Findings: []Finding{}}
	for _, c := range checks() {
		findings, err := o.runCheck(ctx, r, c)
		if err != nil {
			return err
		}
		report.Findings = append(report.Findings, findings...)
		if o.out.Format == "" {
			o.printFindings(findings)
		}
	}
	report.count()
	if done, err := o.out.PrintAnswer(o.f, report); err != nil {
		return err
	} else if !done {
		o.printSummary(report)
	}
	if failed := report.failedChecks(); len(failed) > 0 {
		return usererror.Errorf("follow the advice in the report, and run the command again", "checks failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// runCheck runs one check with a progress line. It returns an error only if the command was interrupted.
func (o *options) runCheck(ctx context.Context, r *reader, c check) ([]Finding, error) {
	busy := o.f.Streams.StartBusyLine("checking " + c.name)
	defer busy.RemoveLine()
	limit := readTimeout
	if c.name == "probe" {
		limit += o.timeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	findings := c.run(limited, r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range findings {
		findings[i].Check = c.name
	}
	return findings, nil
}
