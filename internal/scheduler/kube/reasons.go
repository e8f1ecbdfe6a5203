package kube

import (
	"slices"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"

	"github.com/vc-batch/vc/api/reason"
)

// verdict is the reason why a pod cannot run on a node. An empty code means that it can.
type verdict struct {
	code   reason.Code
	detail string
}

// podVerdict converts a plugin's status for a pod, which applies to all nodes, into a verdict.
func podVerdict(code reason.Code, status *fwk.Status, about string) verdict {
	switch {
	case status.IsSuccess() || status.IsSkip():
		return verdict{}
	case strings.Contains(status.Message(), "unbound immediate"): // the plugin does not report which claim
		return verdict{code, about + ": the claim is not bound yet"}
	}
	return verdict{code, shortenMessage(status.Message())}
}

// nodeVerdict converts a plugin's status for a single node into a verdict. If the plugin failed, the verdict contains
// its error.
func nodeVerdict(code, broken reason.Code, status *fwk.Status, about string) verdict {
	switch {
	case status.IsSuccess():
		return verdict{}
	case status.Code() == fwk.Error:
		return verdict{broken, shortenMessage(status.Message())}
	}
	return verdict{code, about}
}

// bindingVerdict converts the status from VolumeBinding into a verdict and distinguishes its reasons.
func bindingVerdict(status *fwk.Status, about string) verdict {
	has := func(r string) bool { return slices.Contains(status.Reasons(), r) }
	switch {
	case status.IsSuccess():
		return verdict{}
	case has(string(volumebinding.ErrReasonNodeConflict)):
		return verdict{reason.VolumeNodeMismatch, about}
	case has(string(volumebinding.ErrReasonBindConflict)):
		return verdict{reason.NoVolume, about}
	case has(string(volumebinding.ErrReasonNotEnoughSpace)):
		return verdict{reason.StorageFull, about}
	case has(string(volumebinding.ErrReasonPVNotExist)): // the plugin does not report which claim here either
		return verdict{reason.VolumeUnavailable, about + ": the claim is bound to a volume that does not exist"}
	}
	return verdict{reason.VolumeUnavailable, shortenMessage(status.Message())}
}

// shortenMessage shortens a message to a single line of limited length.
func shortenMessage(message string) string {
	const limit = 200
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > limit {
		return strings.ToValidUTF8(message[:limit], "") + "…"
	}
	return message
}
