package doctor

import (
	"context"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/vc-batch/vc/deploy"
)

// The leases of the components, in the namespace of the installation.
const (
	schedulerLease   = "vc-scheduler"
	controllersLease = "vc-controller-manager"
)

// leaseNames returns the leases that the installed components must have.
func (r *reader) leaseNames() []string {
	names := []string{schedulerLease, controllersLease}
	if r.accounting != nil {
		names = append(names, deploy.AccountingLease)
	}
	return names
}

// leaseHolder names the workload whose pods hold a lease.
type leaseHolder struct{ kind, name string }

// leaseHolders maps a lease to its holder.
var leaseHolders = map[string]leaseHolder{
	schedulerLease:         {"deployment", deploy.SchedulerAccount},
	controllersLease:       {"deployment", deploy.ControllersAccount},
	deploy.AccountingLease: {"statefulset", deploy.AccountingWorkload},
}

const (
	// renewalPatience is how long the check waits for a lease that looks outdated to be renewed. The holder renews it
	// every two seconds.
	renewalPatience = 5 * time.Second
	renewalPeriod   = 500 * time.Millisecond
)

// leaseFacts holds what is known about one lease.
type leaseFacts struct {
	name  string
	lease *coordinationv1.Lease // nil if it does not exist
	// isRenewed is true if the lease was renewed while the check watched it.
	isRenewed bool
}

func (r *reader) readLease(ctx context.Context, name string) (*coordinationv1.Lease, *Finding) {
	lease := &coordinationv1.Lease{}
	found, problem := r.read(ctx, lease, "Lease", r.namespace, name)
	if !found {
		return nil, problem
	}
	return lease, nil
}

func checkLeases(ctx context.Context, r *reader) []Finding {
	var all []leaseFacts
	var unreadable []Finding
	for _, name := range r.leaseNames() {
		lease, problem := r.readLease(ctx, name)
		if problem != nil {
			unreadable = append(unreadable, *problem)
			break
		}
		all = append(all, leaseFacts{name: name, lease: lease, isRenewed: r.waitForRenewal(ctx, lease)})
	}
	return append(decideLeases(r.namespace, len(r.deployments) > 0 || r.deploymentsErr != nil, all), unreadable...)
}

// waitForRenewal waits until the holder of a lease renews it. It reports whether this happened in time. It does not
// compare clocks, because they may differ.
func (r *reader) waitForRenewal(ctx context.Context, lease *coordinationv1.Lease) bool {
	if lease == nil || !hasHolder(lease) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, renewalPatience)
	defer cancel()
	ticker := time.NewTicker(renewalPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		now, problem := r.readLease(ctx, lease.Name)
		if problem == nil && now != nil && now.ResourceVersion != lease.ResourceVersion {
			return true
		}
	}
}

func hasHolder(lease *coordinationv1.Lease) bool {
	return lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != ""
}

// decideLeases returns the findings about the leases that could be read. hasDeployments is true if the components run
// as Deployments, as far as is known.
func decideLeases(namespace string, hasDeployments bool, all []leaseFacts) []Finding {
	var findings []Finding
	var leaders []string
	isAnyPresent := false
	for i := range all {
		isAnyPresent = isAnyPresent || all[i].lease != nil
	}
	if len(all) > 0 && !isAnyPresent && !hasDeployments {
		return []Finding{skipped("no Deployments and no leases in namespace %s: the components run without leader election, as in vc-local", namespace)}
	}
	for i := range all {
		if problem := judgeLease(namespace, &all[i]); problem != nil {
			findings = append(findings, *problem)
			continue
		}
		leaders = append(leaders, *all[i].lease.Spec.HolderIdentity+" leads "+all[i].name)
	}
	if len(leaders) == 0 {
		return findings
	}
	return orFine(findings, ok("%s", strings.Join(leaders, ", ")))
}

// describeLogs returns the advice to read the logs of the workload.
func (h leaseHolder) describeLogs(namespace string) string {
	return "see why the component does not run: kubectl -n " + namespace + " get pods -l app.kubernetes.io/name=" + h.name +
		"; kubectl -n " + namespace + " logs " + h.kind + "/" + h.name
}

// judgeLease returns a finding if no replica leads.
func judgeLease(namespace string, facts *leaseFacts) *Finding {
	look := leaseHolders[facts.name].describeLogs(namespace)
	var finding Finding
	switch {
	case facts.lease == nil:
		finding = failed(look, "lease %s does not exist in namespace %s: the component has never run there", facts.name, namespace)
	case !hasHolder(facts.lease):
		finding = failed(look, "lease %s in namespace %s has no holder: the component is not running", facts.name, namespace)
	case !facts.isRenewed:
		renewed := "never"
		if at := facts.lease.Spec.RenewTime; at != nil {
			renewed = at.UTC().Format(time.RFC3339)
		}
		finding = failed(look, "%s holds lease %s in namespace %s, but does not renew it; last renewal: %s", *facts.lease.Spec.HolderIdentity, facts.name, namespace, renewed)
	default:
		return nil
	}
	return &finding
}
