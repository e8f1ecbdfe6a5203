package sim

import (
	"slices"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// commandPhases are the phases that a job enters because of a command.
var commandPhases = []batchv1alpha1.JobPhase{batchv1alpha1.Aborting, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Terminating}

// checkCommandOnce checks that a job enters a phase because of a command only while the command exists. A command is
// deleted after it was carried out, so otherwise it is carried out twice.
func (c *checks) checkCommandOnce(old, job *batchv1alpha1.Job) {
	before, after := &old.Status.State, &job.Status.State
	isEntered := slices.Contains(commandPhases, after.Phase) && before.Phase != after.Phase
	name, isCommanded := strings.CutPrefix(after.Message, "command ")
	if isEntered && isCommanded && c.world.findCommand(job.Namespace, name) == nil {
		c.world.fail("job %s is %s because of the command %s, which was deleted before", job.Name, after.Phase, name)
	}
}
