package translate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
)

func TestOtherFeaturesLeaveTheOtherConditionsOnNodes(t *testing.T) {
	t.Parallel()
	site := &profile.Profile{Features: map[string]map[string]string{"a100": {"gpu": "a100"}, "h100": {"gpu": "h100"}, "nvlink": {"link": "nv", "fast": "yes"}}}
	is := func(key, value string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
	}
	with := func(terms ...[]corev1.NodeSelectorRequirement) *corev1.Affinity {
		nodes := &corev1.NodeSelector{}
		for _, term := range terms {
			nodes.NodeSelectorTerms = append(nodes.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: term})
		}
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: nodes}}
	}
	type list = []corev1.NodeSelectorRequirement
	near := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	for name, test := range map[string]struct {
		affinity     *corev1.Affinity
		old, updated string
		want         *corev1.Affinity
		err          string
	}{
		"the first features":        {nil, "", "a100", with(list{is("gpu", "a100")}), ""},
		"beside a list of nodes":    {with(list{is("name", "n1")}), "", "a100|h100", with(list{is("name", "n1"), is("gpu", "a100")}, list{is("name", "n1"), is("gpu", "h100")}), ""},
		"in place of others":        {with(list{is("name", "n1"), is("fast", "yes"), is("link", "nv")}), "nvlink", "h100", with(list{is("name", "n1"), is("gpu", "h100")}), ""},
		"one list in place of two":  {with(list{is("gpu", "a100")}, list{is("gpu", "h100")}), "a100|h100", "h100", with(list{is("gpu", "h100")}), ""},
		"none, and a list of nodes": {with(list{is("name", "n1"), is("gpu", "a100")}), "a100", "", with(list{is("name", "n1")}), ""},
		"none":                      {with(list{is("gpu", "a100")}), "a100", "", nil, ""},
		"rules about other pods":    {near.DeepCopy(), "", "", near, ""},
		"an unknown feature":        {nil, "", "a1000", nil, "Invalid feature specification: a1000"},
		"a profile that changed":    {with(list{is("gpu", "old")}), "a100", "h100", nil, "the job's features come from an earlier version of the site's profile"},
		"a feature that went":       {with(list{is("gpu", "v100")}), "v100", "h100", nil, "the job's features come from an earlier version of the site's profile"},
	} {
		read := func(text string) optionvalue.Features {
			if text == "" {
				return nil
			}
			features, err := optionvalue.ParseFeatures(text)
			if err != nil {
				t.Fatal(err)
			}
			return features
		}
		pod := &corev1.PodSpec{Affinity: test.affinity}
		err := ChangeFeatures(pod, site, read(test.old), read(test.updated))
		switch {
		case test.err != "":
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: %v, want %s", name, err, test.err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if diff := cmp.Diff(test.want, pod.Affinity); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}
