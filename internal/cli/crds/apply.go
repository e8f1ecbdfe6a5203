package crds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/crdcompare"
	"github.com/vc-batch/vc/internal/usererror"
)

// establishedPeriod is the time between two reads of a CRD that the API server does not serve yet.
const establishedPeriod = 200 * time.Millisecond

// applyOptions holds the inputs of `vcctl crds apply`.
type applyOptions struct {
	f       *cli.Factory
	out     cli.Output
	confirm cli.Confirm
	dryRun  cli.DryRun
	wait    cli.Wait
	// force permits replacing a newer schema; forceConflicts takes fields over from other field managers.
	force, forceConflicts bool
}

func newApply(f *cli.Factory, run func(context.Context, *applyOptions) error) *cobra.Command {
	o := &applyOptions{f: f}
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Install or upgrade the CRDs with vcctl's CRDs",
		Long: cli.FormatHelp(`
			Install or upgrade the CRDs in the cluster with the CRDs of this vcctl. They are
			applied on the server, with the field manager vc-crds. The command waits until
			the API server serves all kinds. Objects such as jobs and queues are kept.

			All CRDs are checked first; if one of them cannot be applied, none is changed.
			The command refuses to replace a newer CRD with an older one, unless you specify
			--force. It always refuses to remove an API version in which objects may be
			stored. It asks for confirmation before it replaces the CRDs of Volcano.

			CRDs that were installed with kubectl apply are taken over. If another tool, such
			as Helm, manages a CRD, use that tool, or take the CRD over with
			--force-conflicts.`),
		Example: f.FormatExamples(`
			# Install or upgrade the CRDs
			vcctl crds apply

			# Show what would change, checked by the API server
			vcctl crds apply --dry-run=server

			# In a pipeline, on a cluster that has the CRDs of Volcano
			vcctl crds apply --yes`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), o)
		},
	}
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, true, "Wait until the API server serves the kinds")
	cmd.Flags().BoolVar(&o.force, "force", false, "Replace newer CRDs with older ones; fields that only the newer CRDs have are lost")
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "Take over fields that other tools manage")
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

func applyCRDs(ctx context.Context, o *applyOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	pairs, err := readPairs(ctx, c)
	if err != nil {
		return err
	}
	if err := joinErrors(pairs, func(p *pair) error { return refuseLoss(&p.Comparison, o.force) }); err != nil {
		return err
	}
	if err := o.confirmReplacements(ctx, pairs); err != nil {
		return err
	}
	if !o.dryRun.IsClient() {
		// A dry run of all CRDs ensures that either all of them are applied or none.
		if err := joinErrors(pairs, func(p *pair) error { return o.applyOne(ctx, c, p, true) }); err != nil {
			return err
		}
	}
	return o.applyAll(ctx, c, pairs)
}

// refuseLoss returns an error if applying this program's CRD would lose data and the user has not permitted it.
func refuseLoss(c *crdcompare.Comparison, force bool) error {
	switch {
	case len(c.LostVersions) > 0:
		lost := strings.Join(c.LostVersions, ", ")
		return usererror.Errorf(
			fmt.Sprintf("use the vcctl that installed this CRD; to downgrade anyway, first rewrite all objects in version %s and remove %s from status.storedVersions",
				strings.Join(keptVersions(c), ", "), lost),
			"CRD %s: objects may be stored in version %s, which this vcctl's CRD does not serve; they could not be read any more", c.Name, lost)
	case c.State == crdcompare.Newer && !force:
		loss := "the rules of the newer CRD"
		if len(c.ExtraFields) > 0 {
			loss = "the fields " + strings.Join(c.ExtraFields, ", ") + " of all objects"
		}
		return usererror.Errorf("use a vcctl of the version that installed this CRD, or replace it with --force",
			"CRD %s: the cluster has version %d, which is newer than version %d of this vcctl; replacing it would lose %s", c.Name, c.Version, c.OwnVersion, loss)
	}
	return nil
}

// keptVersions returns the served API versions of which no objects would be lost.
func keptVersions(c *crdcompare.Comparison) []string {
	return slices.DeleteFunc(append(slices.Clone(c.Served), c.NotServed...), func(version string) bool { return slices.Contains(c.LostVersions, version) })
}

// confirmReplacements asks the user before CRDs of Volcano are replaced. In a dry run, it only prints what is replaced.
func (o *applyOptions) confirmReplacements(ctx context.Context, pairs []*pair) error {
	var effects []string
	for _, p := range pairs {
		if p.State != crdcompare.Foreign {
			continue
		}
		effect := p.Name + ": adds " + strings.Join(p.MissingFields, ", ")
		if len(p.ExtraFields) > 0 {
			effect += "; removes " + strings.Join(p.ExtraFields, ", ") + ", whose values are lost when an object is written"
		}
		effects = append(effects, effect)
	}
	switch {
	case len(effects) == 0:
		return nil
	case o.dryRun.IsDryRun():
		for _, effect := range effects {
			o.f.Warnf("would replace a CRD that is not vc's, but probably Volcano's: %s", effect)
		}
		return nil
	}
	return o.confirm.AskUser(ctx, o.f, "replace CRDs that are not vc's, but probably Volcano's", effects)
}

// applyAll applies all CRDs, prints the result of each, and waits until the API server serves them.
func (o *applyOptions) applyAll(ctx context.Context, c client.Client, pairs []*pair) error {
	var objects []client.Object
	for _, p := range pairs {
		object, done, err := o.applyAndRead(ctx, c, p)
		if err != nil {
			return err
		}
		objects = append(objects, object)
		if !o.out.IsMachineReadable() {
			if err := cli.PrintSuccess(o.f, &o.out, object, done+o.dryRun.MessageSuffix()); err != nil {
				return err
			}
		}
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() {
		if err := o.waitEstablished(ctx, c, pairs); err != nil {
			return err
		}
	}
	if o.out.IsMachineReadable() {
		return o.out.PrintObjects(o.f, objects, false)
	}
	return nil
}

// applyAndRead applies one CRD unless this is a dry run. It returns the CRD and what was done: created, configured or
// unchanged.
func (o *applyOptions) applyAndRead(ctx context.Context, c client.Client, p *pair) (client.Object, string, error) {
	if o.dryRun.IsDryRun() {
		return p.own, expectedChange(p), nil
	}
	if err := o.applyOne(ctx, c, p, false); err != nil {
		return nil, "", err
	}
	var after apiextensionsv1.CustomResourceDefinition
	if err := c.Get(ctx, client.ObjectKeyFromObject(p.own), &after); err != nil {
		return nil, "", err
	}
	switch {
	case p.have == nil:
		return &after, "created", nil
	case p.have.ResourceVersion != after.ResourceVersion && !isStatusChange(p.have, &after):
		return &after, "configured", nil
	}
	return &after, "unchanged", nil
}

// isStatusChange reports whether two versions of a CRD differ only in their status.
func isStatusChange(before, after *apiextensionsv1.CustomResourceDefinition) bool {
	return before.Generation == after.Generation && crdOwners(before) == crdOwners(after) && haveSameMetadata(before, after)
}

// expectedChange returns what applying a CRD would do.
func expectedChange(p *pair) string {
	switch {
	case p.State == crdcompare.Missing:
		return "created"
	case p.State == crdcompare.Current && haveSameMetadata(p.have, p.own):
		return "unchanged"
	}
	return "configured"
}

// haveSameMetadata reports whether an object has all annotations and labels of another one.
func haveSameMetadata(have, want *apiextensionsv1.CustomResourceDefinition) bool {
	return containsAll(have.Annotations, want.Annotations) && containsAll(have.Labels, want.Labels)
}

func containsAll(have, want map[string]string) bool {
	for key, value := range want {
		if got, found := have[key]; !found || got != value {
			return false
		}
	}
	return true
}

// waitEstablished waits until the API server serves all kinds. If it has rejected the names of a kind, it returns an
// error at once.
func (o *applyOptions) waitEstablished(ctx context.Context, c client.Reader, pairs []*pair) error {
	ctx, cancel := o.wait.LimitContext(ctx)
	defer cancel()
	busy := o.f.Streams.StartBusyLine("waiting until the API server serves the kinds")
	defer busy.RemoveLine()
	for _, p := range pairs {
		err := wait.PollUntilContextCancel(ctx, establishedPeriod, true, func(ctx context.Context) (bool, error) {
			var have apiextensionsv1.CustomResourceDefinition
			if err := c.Get(ctx, client.ObjectKeyFromObject(p.own), &have); err != nil {
				return false, err
			}
			state := crdcompare.Compare(&have, p.own)
			if state.Problem != "" {
				return false, usererror.Errorf("delete the CRD or resource that uses the same names, and run the command again",
					"CRD %s: the API server does not serve the kind: %s", p.Name, state.Problem)
			}
			return state.Established, nil
		})
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			return o.wait.TimeoutError("CRD "+p.Name, "the API server does not serve the kind yet")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// conflictError returns the error for fields that other field managers own. It returns any other error unchanged.
func conflictError(err error, name string) error {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	var names []string
	for _, cause := range status.Status().Details.Causes {
		// The message is: conflict with "MANAGER" using VERSION
		if parts := strings.SplitN(cause.Message, `"`, 3); len(parts) == 3 && !slices.Contains(names, parts[1]) {
			names = append(names, parts[1])
		}
	}
	if len(names) == 0 {
		return err
	}
	return usererror.Errorf("upgrade the CRD with the tool that manages it, or take it over with --force-conflicts",
		"CRD %s: its fields are managed by %s; nothing was changed", name, strings.Join(names, ", "))
}
