package main

// defects lists the defects that the product once had, put back into the current code.
var defects = []bug{
	{
		name: "failed-pods-block-gang", kind: "defect", file: "internal/controllers/job/plan/shrink.go",
		old: "return b.withoutFailed(b.withoutHeldBack(b.withoutAbsent()))",
		new: "return b.withoutHeldBack(b.withoutAbsent())",
	},
	{
		name: "gang-without-pods-reserves-queue", kind: "defect", file: "internal/scheduler/cycle/couldstart.go",
		old: "return s.mayStillArrive(j) && s.templatesFit(j) && !s.exceedsEmptyNodes(j), true",
		new: "return true, true",
	},
	{
		name: "ending-pods-free-the-queue", kind: "defect", file: "internal/scheduler/queue/ledger.go",
		old: "q.Own.Occupied[i] = v - float64(from.Promised.Get(i)) + q.Own.Ending[i]",
		new: "q.Own.Occupied[i] = v - float64(from.Promised.Get(i))",
	},
	{
		name: "preemptor-bound-before-victims-end", kind: "defect", file: "internal/scheduler/placement/round.go",
		old: "\tif s.InForecast() {\n\t\treturn explain.Verdict{}\n\t}\n\treturn s.Rules.MustWait(",
		new: "\tif s.InForecast() || s.trial.Swap != nil {\n\t\treturn explain.Verdict{}\n\t}\n\treturn s.Rules.MustWait(",
	},
	{
		name: "lingering-pods-free-the-queue", kind: "defect", file: "internal/scheduler/queue/ledger.go",
		old: "q.Own.Lingering = loadAmounts(q.Own.Lingering, from.Lingering, n)",
		new: "q.Own.Lingering = loadAmounts(q.Own.Lingering, nil, n)",
	},
	{
		name: "pods-of-deleted-jobs-free-the-queue", kind: "defect", file: "internal/model/gang.go",
		old: "if g.Queue == nil || len(g.Tasks) == 0 {",
		new: "if g.Queue == nil || len(g.Tasks) >= 0 {",
	},
	{
		name: "controllers-write-without-fence", kind: "defect", file: "internal/daemon/leaderfence/leaderfence.go",
		old: "\t}\n\treturn fence()",
		new: "\t}\n\t_ = fence\n\treturn nil",
	},
	{
		name: "impossible-job-blocks-queue", kind: "defect", file: "internal/scheduler/cycle/couldstart.go",
		old: "\tif !j.In.AcceptsGangs() {\n\t\treturn false, true\n\t}\n\tswitch",
		new: "\tif len(s.could) >= 0 {\n\t\treturn true, true\n\t}\n\tswitch",
	},
	{
		name: "repeated-status-has-a-new-address", kind: "defect", file: "internal/local/simnode/due.go",
		old: "e.record.podIP = after.podIP",
		new: "e.record.uid = after.uid",
	},
	{
		name: "pods-wait-for-admission", kind: "defect", file: "internal/admission/install.go",
		old: `ofPods.failOpen, ofPods.suffix = true, "ofpods"`,
		new: `ofPods.failOpen, ofPods.suffix = false, "ofpods"`,
	},
	{
		name: "webhooks-are-not-repaired", kind: "defect", file: "internal/admission/webhooks.go",
		old: "\tif err == nil {\n\t\tcorrected, err = w.install(ctx)",
		new: "\tif err == nil && !w.isInstalled {\n\t\tcorrected, err = w.install(ctx)",
	},
	{
		name: "creates-in-terminating-namespace", kind: "defect", file: "internal/controllers/job/apply.go",
		old: "\t\ta.known.recordTerminatingNamespace(err)\n",
		new: "\t\t_ = a.known\n",
	},
	{
		name: "pods-beyond-the-minimum-use-the-quota", kind: "defect", file: "internal/controllers/job/plan/holes.go",
		old: "needed[i] = min(needed[i]+taskMinimum(t), t.Replicas)",
		new: "_, needed[i] = t, 0",
	},
}
