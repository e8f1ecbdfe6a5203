package translate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// setPlacement sets the node requirements, the affinity rules between pods, the topology and the NUMA policy.
func (b *topic) setPlacement() {
	affinity := &corev1.Affinity{}
	b.addNodeAffinity(affinity)
	b.addPodAffinity(affinity)
	if affinity.NodeAffinity != nil || affinity.PodAntiAffinity != nil {
		b.pod.Affinity = affinity
	}
	b.setTopology()
	b.setNUMAPolicy()
}

// addNodeAffinity adds the node requirements: lists of nodes, features, and device types.
func (b *topic) addNodeAffinity(affinity *corev1.Affinity) {
	const required = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	all := toRequirements(b.p.NodeSelector)
	b.checkNodeNames()
	if list := b.r.Nodelist; len(list) > 0 {
		all = append(all, corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: list})
		b.stored.Nodes = hostlist.CompressNames(list)
		if b.size.least > len(list) {
			b.addError(usererror.Errorf("list more nodes, or request fewer", "--nodes=%d is more than the number of nodes in --nodelist (%d)", b.size.least, len(list)))
		}
		b.recordFields("nodelist", b.fieldPaths(required)...)
		b.recordFields("nodefile", b.fieldPaths(required)...)
	}
	if list := b.r.Exclude; len(list) > 0 {
		all = append(all, corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: list})
		b.stored.Exclude = hostlist.CompressNames(list)
		b.recordFields("exclude", b.fieldPaths(required)...)
	}
	all = append(all, b.deviceRequirements(required)...)
	terms := b.selectorTerms(all, b.r.Constraint)
	if len(b.r.Constraint) > 0 {
		b.recordFields("constraint", b.fieldPaths(required)...)
	}
	if len(terms[0].MatchExpressions) > 0 {
		affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	}
	b.addPreferences(affinity)
}

func (b *topic) addPreferences(affinity *corev1.Affinity) {
	for _, features := range b.r.Prefer {
		if affinity.NodeAffinity == nil {
			affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: b.labelRequirements(features)}})
	}
	b.recordFields("prefer", b.fieldPaths("affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution")...)
}

// deviceRequirements returns the node requirements for the requested device types.
func (b *topic) deviceRequirements(required string) []corev1.NodeSelectorRequirement {
	var all []corev1.NodeSelectorRequirement
	for _, g := range b.size.gres {
		if g.Type == "" {
			continue
		}
		known, _ := b.p.FindGres(g.Name)
		labels, ok := known.Types[g.Type]
		if !ok {
			var names []string
			for name := range known.Types {
				names = append(names, name)
			}
			slices.Sort(names)
			hint := "the site's profile defines no types of " + g.Name
			if len(names) > 0 {
				hint = "types of " + g.Name + ": " + joinWords(names)
			}
			b.addError(usererror.Errorf(hint, "Batch job submission failed: Invalid generic resource (gres) specification: %s", g.Name+":"+g.Type))
			continue
		}
		all = append(all, toRequirements(labels)...)
		for _, option := range []string{"gres", "gpus", "gpus-per-node", "gpus-per-task", "tres-per-task"} {
			b.recordFields(option, b.fieldPaths(required)...)
		}
	}
	return all
}

// addPodAffinity adds the rules about which other pods may be on the same node.
func (b *topic) addPodAffinity(affinity *corev1.Affinity) {
	anti := &corev1.PodAntiAffinity{}
	ours := metav1.LabelSelectorRequirement{Key: keys.JobName, Operator: metav1.LabelSelectorOpIn, Values: []string{b.name}}
	const field = "affinity.podAntiAffinity"
	if b.r.Nodes != nil && b.size.nodes > 1 {
		mates := sameNodeTerm(false, ours)
		if b.r.Array != nil { // consider only pods of the same element
			mates.MatchLabelKeys = []string{keys.PartitionID}
		}
		anti.RequiredDuringSchedulingIgnoredDuringExecution = append(anti.RequiredDuringSchedulingIgnoredDuringExecution, mates)
		b.recordFields("nodes", b.fieldPaths(field)...)
	}
	if b.r.Exclusive != "" {
		others := []metav1.LabelSelectorRequirement{{Key: keys.JobName, Operator: metav1.LabelSelectorOpExists}}
		if b.r.Exclusive == "user" {
			user := labelValue(b.User)
			others = append(others, metav1.LabelSelectorRequirement{Key: keys.User, Operator: metav1.LabelSelectorOpNotIn, Values: []string{user}})
		}
		anti.RequiredDuringSchedulingIgnoredDuringExecution = append(anti.RequiredDuringSchedulingIgnoredDuringExecution, sameNodeTerm(true, others...))
		b.recordFields("exclusive", b.fieldPaths(field)...)
	}
	if user := labelValue(b.User); user != "" {
		b.podLabels = map[string]string{keys.User: user}
	}
	if b.r.SpreadJob {
		anti.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: sameNodeTerm(false, ours)}}
		b.recordFields("spread-job", b.fieldPaths(field)...)
	}
	if anti.RequiredDuringSchedulingIgnoredDuringExecution != nil || anti.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		affinity.PodAntiAffinity = anti
	}
}

// sameNodeTerm returns a term that matches pods on the same node, in this namespace or in all namespaces.
func sameNodeTerm(everywhere bool, of ...metav1.LabelSelectorRequirement) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchExpressions: of}}
	if everywhere {
		term.NamespaceSelector = &metav1.LabelSelector{}
	}
	return term
}

// setTopology sets how close to each other in the network the pods' nodes must be.
func (b *topic) setTopology() {
	if s := b.r.Switches; s != nil {
		mode := batchv1alpha1.HardNetworkTopologyMode
		if s.Wait != optionvalue.Unlimited || s.Count > 1 {
			mode = batchv1alpha1.SoftNetworkTopologyMode
		}
		b.job.NetworkTopology = &batchv1alpha1.NetworkTopologySpec{Mode: mode, HighestTierAllowed: new(1)}
		b.recordFields("switches", "spec.networkTopology")
	}
	n := int(b.r.Segment)
	switch {
	case n == 0:
	case b.size.nodes%n != 0:
		b.addError(usererror.Errorf("set --nodes to a multiple of --segment", "--segment=%d does not divide --nodes=%d evenly", n, b.size.nodes))
	case b.r.Array != nil:
		b.addError(usererror.Errorf("remove --segment: each array task is already a group", "--segment is not supported here together with --array"))
	case n == b.size.nodes:
		b.job.NetworkTopology = &batchv1alpha1.NetworkTopologySpec{Mode: batchv1alpha1.HardNetworkTopologyMode, HighestTierAllowed: new(1)}
		b.recordFields("segment", "spec.networkTopology")
	default:
		b.addError(usererror.Errorf("remove --segment, or use --switches", "--segment=%d must equal --nodes=%d here, because groups that are smaller than the job are not supported", n, b.size.nodes))
	}
}

// setNUMAPolicy requests a single NUMA node for --hint and --mem-bind, if the profile enables this behavior.
func (b *topic) setNUMAPolicy() {
	if !b.p.NumaHints {
		return
	}
	hint, bind := b.r.Given["hint"], b.r.Given["mem-bind"]
	if hint.Text != "nomultithread" && bind.Text != "local" {
		return
	}
	for i, task := range []*batchv1alpha1.TaskSpec{&b.head, &b.node} {
		if i > 0 && !b.hasNodeTask() {
			break
		}
		task.TopologyPolicy = batchv1alpha1.SingleNumaNode
		b.recordFields("hint", taskPath(i)+".topologyPolicy")
		b.recordFields("mem-bind", taskPath(i)+".topologyPolicy")
	}
}

// checkNodeNames adds an error if a requested node does not exist in the cluster.
func (b *topic) checkNodeNames() {
	if b.Facts.NodeNames == nil {
		return
	}
	for _, name := range b.r.Nodelist {
		if !slices.Contains(b.Facts.NodeNames, name) {
			b.addError(usererror.Errorf("the cluster has no node "+name+"; run sinfo -N to list the nodes", "Batch job submission failed: Invalid node name specified"))
			return
		}
	}
}
