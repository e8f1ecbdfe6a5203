package hypernode

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// writes holds the changes that bring the HyperNodes of a source up to date, in the order in which to write them. Inner
// HyperNodes are written before outer ones. Obsolete HyperNodes are deleted last, outer ones before inner ones.
type writes struct {
	create, update []*topologyv1alpha1.HyperNode
	remove         []*topologyv1alpha1.HyperNode
}

// planWrites compares the domains of a source with the existing HyperNodes. HyperNodes that belong to other sources or
// were created by users only reserve their names.
func planWrites(source string, domains []domain, there []topologyv1alpha1.HyperNode) writes {
	mine, taken := map[string]*topologyv1alpha1.HyperNode{}, map[string]bool{}
	for i := range there {
		h := &there[i]
		taken[h.Name] = true
		if h.Labels[keys.TopologySource] == source {
			mine[h.Name] = h
		}
	}
	domains = slices.Clone(domains)
	slices.SortStableFunc(domains, func(a, b domain) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
	})
	names := assignNames(domains, mine, taken)
	var w writes
	for i := range domains {
		want := domains[i].newHyperNode(source, names)
		old := mine[want.Name]
		switch {
		case old == nil:
			w.create = append(w.create, want)
		case !hasWantedState(old, want):
			changed := old.DeepCopy()
			changed.Spec = want.Spec
			maps.Copy(changed.Labels, want.Labels) // changed has the label of the source
			w.update = append(w.update, changed)
		}
		delete(mine, want.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		w.remove = append(w.remove, mine[name])
	}
	slices.SortStableFunc(w.remove, func(a, b *topologyv1alpha1.HyperNode) int { return cmp.Compare(b.Spec.Tier, a.Spec.Tier) })
	return w
}

// place identifies a domain within its source.
type place struct {
	kind string
	tier int
	id   string
}

// assignNames returns the names of the domains. A domain gets the name of the existing HyperNode with the same label.
// Therefore, a domain that moves keeps its name, and so do HyperNodes that Volcano created. Without such a HyperNode,
// the name is derived from the domain's identity.
func assignNames(domains []domain, mine map[string]*topologyv1alpha1.HyperNode, taken map[string]bool) map[place]string {
	names, given := map[place]string{}, map[string]bool{}
	name := func(d *domain, n string) { names[place{d.kind, d.tier, d.id}], given[n] = n, true }
	var rest []*domain
	for i := range domains {
		d := &domains[i]
		if n := d.existingName(mine, given); n != "" {
			name(d, n)
		} else {
			rest = append(rest, d)
		}
	}
	for _, d := range rest {
		for salt := 0; ; salt++ {
			n := d.newName(salt)
			isOwnName := mine[n] != nil && mine[n].Labels[d.label] == d.value
			if !given[n] && (!taken[n] || isOwnName) {
				name(d, n)
				break
			}
		}
	}
	return names
}

func (d *domain) namePrefix() string { return fmt.Sprintf("hypernode-%s-tier%d-", d.kind, d.tier) }

// existingName returns the name of the HyperNode that already represents this domain. It returns "" if there is no such
// HyperNode, or if newName returns its name anyway.
func (d *domain) existingName(mine map[string]*topologyv1alpha1.HyperNode, given map[string]bool) string {
	if !d.sole {
		return ""
	}
	own := d.newName(0)
	var candidates []string
	for name, h := range mine {
		if !given[name] && strings.HasPrefix(name, d.namePrefix()) && h.Labels[d.label] == d.value {
			candidates = append(candidates, name)
		}
	}
	slices.Sort(candidates)
	if len(candidates) == 0 || slices.Contains(candidates, own) {
		return "" // newName gives the same name
	}
	return candidates[0]
}

// newName returns a name derived from the domain's identity. Different values of salt give different names, to avoid
// names that are in use.
func (d *domain) newName(salt int) string {
	h := fnv.New64a()
	identity := d.id
	if d.sole {
		identity = d.value
	}
	_, _ = fmt.Fprintf(h, "%s\x00%d\x00%s\x00%s", d.kind, d.tier, d.label, identity)
	if salt > 0 {
		_, _ = fmt.Fprintf(h, "\x00%d", salt)
	}
	digits := strconv.FormatUint(h.Sum64(), 36)
	return d.namePrefix() + ("00000" + digits)[len(digits):]
}

func (d *domain) newHyperNode(source string, names map[place]string) *topologyv1alpha1.HyperNode {
	h := &topologyv1alpha1.HyperNode{
		ObjectMeta: metav1.ObjectMeta{Name: names[place{d.kind, d.tier, d.id}], Labels: map[string]string{keys.TopologySource: source}},
		Spec:       topologyv1alpha1.HyperNodeSpec{Tier: d.tier, TierName: d.tierName},
	}
	if d.label != "" {
		h.Labels[d.label] = d.value
	}
	for _, member := range d.members {
		kind := topologyv1alpha1.MemberTypeNode
		if d.tier > 1 {
			kind, member = topologyv1alpha1.MemberTypeHyperNode, names[place{d.kind, d.tier - 1, member}]
		}
		h.Spec.Members = append(h.Spec.Members, topologyv1alpha1.MemberSpec{Type: kind,
			Selector: topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: member}}})
	}
	slices.SortFunc(h.Spec.Members, func(a, b topologyv1alpha1.MemberSpec) int {
		return cmp.Compare(a.Selector.ExactMatch.Name, b.Selector.ExactMatch.Name)
	})
	return h
}

// hasWantedState reports whether an object has the wanted spec and labels, ignoring additional labels.
func hasWantedState(old, want *topologyv1alpha1.HyperNode) bool {
	for key, value := range want.Labels {
		if old.Labels[key] != value {
			return false
		}
	}
	return apiequality.Semantic.DeepEqual(old.Spec, want.Spec)
}
