package randomcluster

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// AddQOS adds QOS with random limits.
func (r *Cluster) AddQOS() {
	r.QOS = map[string]*accountv1alpha1.QOS{}
	for _, name := range []string{"short", "long"} {
		r.setQOS(name)
	}
}

// setQOS draws new limits for a QOS.
func (r *Cluster) setQOS(name string) {
	b := make.QOS(name)
	isDrawn := func(of string) bool { return rapid.IntRange(0, 3).Draw(r.T, of) == 0 }
	for _, of := range []make.QOSJobs{make.AllJobs, make.JobsOfUser, make.JobsOfAccount} {
		if isDrawn("limits jobs of a QOS") {
			b.MaxRunningJobs(of, int32(rapid.IntRange(0, 3).Draw(r.T, "jobs of a QOS")))
		}
		if isDrawn("limits cpu of a QOS") {
			b.MaxResource(of, "cpu", fmt.Sprint(rapid.IntRange(0, 8).Draw(r.T, "most cpu of a QOS")))
		}
		if isDrawn("limits pods of a QOS") {
			b.MaxResource(of, "pods", fmt.Sprint(rapid.IntRange(0, 8).Draw(r.T, "most pods of a QOS")))
		}
	}
	r.QOS[name] = b.Obj()
	r.Model.Apply(model.QOSFrom(b.Obj()))
}

// drawQOS returns a QOS for a gang; "" if there are none.
func (r *Cluster) drawQOS() string {
	if len(r.QOS) == 0 {
		return ""
	}
	return rapid.SampledFrom([]string{"", "short", "long", "unknown"}).Draw(r.T, "QOS")
}

// The prefixes of the keys of UseOfAccounts that belong to a QOS: all jobs, those of a user, and those of an account.
const (
	qosKey        = "qos:"
	qosUserKey    = "user in qos:"
	qosAccountKey = "account in qos:"
)

// qosKeys returns the keys of UseOfAccounts of a QOS.
func (r *Cluster) qosKeys(of party) (out []string) {
	if r.QOS[of.qos] == nil {
		return nil
	}
	out = append(out, qosKey+of.qos)
	if of.user != "" {
		out = append(out, qosUserKey+of.qos+"/"+of.user)
	}
	if of.account != "" {
		out = append(out, qosAccountKey+of.qos+"/"+of.account)
	}
	return out
}

// qosLimitsOf returns the limits for a key of UseOfAccounts that belongs to a QOS. It reports whether the key is one.
func (r *Cluster) qosLimitsOf(key string) (jobs *int32, resources corev1.ResourceList, isQOS bool) {
	for prefix, limitsOf := range map[string]func(*accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits{
		qosKey:        func(s *accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits { return s.Limits },
		qosUserKey:    func(s *accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits { return s.UserLimits },
		qosAccountKey: func(s *accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits { return s.AccountLimits },
	} {
		rest, found := strings.CutPrefix(key, prefix)
		if !found {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		if limits := limitsOf(&r.QOS[name].Spec); limits != nil {
			return limits.MaxRunningJobs, limits.MaxResources, true
		}
		return nil, nil, true
	}
	return nil, nil, false
}
