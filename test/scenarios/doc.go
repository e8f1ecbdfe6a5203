// Package scenarios tests the behavior of the scheduler with stories. A story is a file that contains events and the
// decisions of the scheduler. `go test ./test/scenarios -rewrite` updates the decisions.
//
// A story is a list of commands. Each command may have further lines, and is followed by "----", its answer and an
// empty line. Comments begin with "#".
//
//	nodes              one node a line: NAME cpu=4 memory=8Gi gpu=2 label:zone=x taint:key=value:NoSchedule cordon
//	remove node NAME
//	queue NAME         weight=3 priority=1 cap:cpu=2 guarantee:cpu=1 reclaimable=false state=Closed fifo parent=root
//	remove queue NAME
//	class NAME value=100
//	submit NAME        queue=q tasks=8 min=8 cpu=1 memory=1Gi gpu=1 minres:cpu=8 role=ps select:zone=x in:zone=x tolerate=key port=80
//	                   label:app=x spread:zone=1 anti:hostname near:zone class=high priority=5 gate=x nopods;
//	                   a repeated name adds tasks to the gang; orphans: without a PodGroup
//	pod NAME           node=a cpu=2: a running pod of another scheduler
//	cycle [N]          one cycle or N cycles of two seconds each; binds and evictions are not confirmed
//	settle             cycles until they decide nothing more; bound pods run, evicted pods are deleted
//	stop POD… | finish GANG… | fail GANG… | delete GANG…
//	delete lingering GANG…  deletes the PodGroup; its pods are still terminating
//	settle lingering   evicted pods are still terminating; "gone" ends them
//	linger POD…        a user deletes the pods, and they are still terminating
//	budget NAME        select=app=x allowed=1 desired=2 disrupted=POD: a PodDisruptionBudget
//	unready POD…       the pods run but are not ready
//	bindfail POD…      the API rejected the binding
//	show GANG…         phase, condition, explanation
//	explain GANG…      hints, estimated start, state of the queue
//	members GANG…      the numbers of their pods in their explanations
//	conditions GANG…   the conditions of its waiting pods
//	events             the events since the last events command
//	shares             the allocated and deserved resources of queues
//	opinion            the lines are verbs and answers of an extender server at http://opinion; broken: it fails
//	asked              the verbs of its requests since the last asked command
//	config             the lines are the scheduler's configuration
//	restart            a new engine, and a new model from the objects in the API
package scenarios
