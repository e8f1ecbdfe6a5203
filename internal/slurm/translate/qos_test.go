package translate

import (
	"testing"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/usererror"
)

// TestInAClusterWithQOSTheOptionNamesOne checks that --qos sets the label, and that the profile and the priority classes do not
// matter.
func TestInAClusterWithQOSTheOptionNamesOne(t *testing.T) {
	t.Parallel()
	b := &topic{source: &source{r: &request.Request{QOS: "short"}, Input: Input{Facts: Facts{QOS: []string{"long", "short"}, Classes: []string{"normal"}}}}}
	b.setQOS()
	if len(b.errs) > 0 || b.labels[keys.QOS] != "short" || b.job.PriorityClassName != "" || b.launch.QOS != "short" {
		t.Errorf("labels %v, class %q, errors %v", b.labels, b.job.PriorityClassName, b.errs)
	}
	b = &topic{source: &source{r: &request.Request{QOS: "normal"}, Input: Input{Facts: Facts{QOS: []string{"long", "short"}, Classes: []string{"normal"}}}}}
	b.setQOS()
	if len(b.errs) != 1 || usererror.FromError(b.errs[0]).Hint != "known: long, short" {
		t.Errorf("errors %v", b.errs)
	}
}
