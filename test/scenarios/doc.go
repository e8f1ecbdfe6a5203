// Package scenarios tells how the scheduler behaves, as stories: a file says what
// happens and what is decided. `go test ./test/scenarios -rewrite` writes the
// answers anew.
//
// A story is commands, each with lines of its own, an answer after "----" and an
// empty line. Comments begin with "#".
//
//	nodes              one node a line: NAME cpu=4 memory=8Gi gpu=2 label:zone=x taint:key=value:NoSchedule cordon
//	remove node NAME
//	queue NAME         weight=3 priority=1 cap:cpu=2 guarantee:cpu=1 reclaimable=false state=Closed fifo parent=root
//	remove queue NAME
//	class NAME value=100
//	submit NAME        queue=q tasks=8 min=8 cpu=1 memory=1Gi gpu=1 minres:cpu=8 role=ps select:zone=x in:zone=x tolerate=key port=80
//	                   label:app=x spread:zone=1 anti:hostname near:zone class=high priority=5 gate=x nopods;
//	                   a name again adds tasks to the gang; orphans: there is no PodGroup
//	pod NAME           node=a cpu=2: a running pod of another scheduler
//	cycle [N]          one cycle, N cycles, two seconds each; nothing is confirmed
//	settle             cycles until nothing more is decided; bound pods run, evicted ones are gone
//	stop POD… | finish GANG… | fail GANG… | delete GANG…
//	delete lingering GANG…  its PodGroup is gone, its pods are there still, ending
//	settle lingering   evicted pods are there still, ending; "gone" ends them
//	linger POD…        they are deleted from outside, and are there still
//	budget NAME        select=app=x allowed=1 desired=2 disrupted=POD: a PodDisruptionBudget
//	unready POD…       they run and are not ready
//	bindfail POD…      the API refused the binding
//	show GANG…         phase, condition, explanation
//	explain GANG…      what would help, when it starts, how its queue stands
//	conditions GANG…   what the conditions of its waiting pods say
//	events             those since they were last told
//	shares             what queues hold and deserve
//	opinion            the lines are verbs and answers of a server that policy extender asks at http://opinion; broken: it fails
//	asked              the verbs that it was asked since it was last told
//	config             the lines are the scheduler's configuration
//	restart            a new engine and a new model of what the API knows
package scenarios
