package figures

// Better is the direction in which the values of a line improve.
type Better string

// The directions.
const (
	Higher Better = "higher"
	Lower  Better = "lower"
)

// Line is a measured quantity.
type Line struct {
	Name, Unit string
	Better     Better
	// Floor is the limit at which the benchmark fails, and Aim is the target. 0 means that there is no limit or target.
	Floor, Aim float64
}

// Missed reports whether a value is on the wrong side of the floor.
func (l Line) Missed(value float64) bool {
	switch {
	case l.Floor == 0:
		return false
	case l.Better == Higher:
		return value < l.Floor
	}
	return value > l.Floor
}

// Lines are all lines with a floor, in the order of the table. The machine has 2 cores, which all processes share, 24
// GB of memory, Linux 6.18, amd64, Go 1.26, and etcd in memory without fsync. Floors and aims come from the issues that
// requested them. Excuses lists the floors that the API server does not permit.
var Lines = []Line{
	// package internal/scheduler, which has its own tests for the floors
	{"decided pods/s, 50 shapes, gangs of 10, 20 queues", "pods/s", Higher, 20_000, 100_000},
	{"decided pods/s, 500 shapes, single pods, spread", "pods/s", Higher, 5_000, 20_000},
	{"decided pods/s, 500 shapes, single pods, pod affinity and topology spread", "pods/s", Higher, 5_000, 20_000},
	{"decided pods/s, one gang as large as the cluster", "pods/s", Higher, 20_000, 0},
	{"allocations a decided pod, first cycle", "allocations", Lower, 1, 0.1},
	{"allocations a decided pod, later cycle", "allocations", Lower, 1, 0.1},
	{"one changed node in an idle cluster", "ms", Lower, 5, 0.5},
	{"one changed pod in an idle cluster", "ms", Lower, 5, 0.5},
	{"cannot run, because, for a new gang on a full cluster", "ms", Lower, 1000, 100},
	{"cannot run, because, for a new gang on a full cluster, with pod affinity", "ms", Lower, 1000, 100},
	{"reclaim plan that frees 2,000 GPUs for a gang of 250", "ms", Lower, 1000, 200},
	{"reclaim plan that frees 2,000 GPUs for a gang of 2000", "ms", Lower, 1000, 200},

	{"decided pods/s, 20 queues, gangs of 10, order by proportion", "pods/s", Higher, 20_000, 100_000},
	{"decided pods/s, 20 queues, gangs of 10, order by fairshare", "pods/s", Higher, 20_000, 100_000},
	{"decided pods/s, 20 queues, gangs of 10, order by drf with hierarchy", "pods/s", Higher, 20_000, 100_000},
	{"one new gang beside many, order by proportion", "ms", Lower, 20, 5},
	{"one new gang beside many, order by fairshare", "ms", Lower, 20, 5},
	{"one new gang beside many, order by drf with hierarchy", "ms", Lower, 20, 5},

	{"estimates of when 200 waiting gangs start, ten timed pods a node", "ms", Lower, 150, 50},
	{"one pod ends and one gang arrives, 5,000 gangs outside a full queue", "ms", Lower, 60, 20},

	{"a gang of 1,000 placed in three tiers of HyperNodes, anywhere", "ms", Lower, 500, 100},
	{"a gang of 1,000 placed in three tiers of HyperNodes, soft", "ms", Lower, 500, 100},
	{"a gang of 1,000 placed in three tiers of HyperNodes, hard in a row, 125 sub-groups of 8 each hard in a rack", "ms", Lower, 500, 100},

	// package internal/accounting/store, with 10 million records in four months
	{HistoryAdd, "records/s", Higher, 1000, 0},
	{HistoryDay + "SQLite", "ms", Lower, 100, 0},
	{HistoryDay + "PostgreSQL", "ms", Lower, 100, 0},
	{HistoryMonth + "SQLite", "ms", Lower, 1000, 0},
	{HistoryMonth + "PostgreSQL", "ms", Lower, 1000, 0},
	{HistorySizes + "SQLite", "ms", Lower, 1000, 0},
	{HistorySizes + "PostgreSQL", "ms", Lower, 1000, 0},
	{HistoryNamespace + "SQLite", "ms", Lower, 1000, 0},
	{HistoryNamespace + "PostgreSQL", "ms", Lower, 1000, 0},
	{HistoryWaiting + "SQLite", "ms", Lower, 1000, 0},
	{HistoryWaiting + "PostgreSQL", "ms", Lower, 1000, 0},
	{HistoryDays + "SQLite", "ms", Lower, 1000, 0},
	{HistoryDays + "PostgreSQL", "ms", Lower, 1000, 0},

	// package test/bench
	{Binds, "", Higher, 0.75, 0.95},
	{Binds + InProcessorTime, "", Higher, 0, 0},
	{Way + "20x100", "", Higher, 0.6, 0.85},
	{Way + "250x20", "", Higher, 0.6, 0.85},
	{Way + "10x500", "", Higher, 0.6, 0.85},
	{Way + "1x5000", "", Higher, 0.6, 0.85},
	{Way + "5000x1", "", Higher, 0.6, 0.85}, // see Excuses
	{WayOfMost, "", Higher, 0.2, 0.6},       // our own floor: the first measurement was 0.22
	{MostAlone, "", Higher, 0, 0},
	{MostLoose, "", Higher, 0, 0},
	{MostBlind, "", Higher, 0, 0},
	{Most, "", Higher, 0, 0},
	{MostBlindGrouped, "", Higher, 0, 0},
	{Binds + Started, "", Higher, 0, 0}, // information only: the floor is for pods that do not start
	{Way + "20x100" + Started, "", Higher, 0.6, 0.85},
	{Way + "250x20" + Started, "", Higher, 0, 0},
	{Way + "10x500" + Started, "", Higher, 0, 0},
	{Way + "1x5000" + Started, "", Higher, 0, 0},
	{Way + "5000x1" + Started, "", Higher, 0, 0},
	{WithAccounting, "", Higher, 0.98, 0},
	{WithAccounting + InProcessorTime, "", Higher, 0, 0},
	{Processor, "ms", Lower, 0.5, 0.2},
	{ProcessorJobs, "ms", Lower, 0.5, 0.2},
	{ProcessorWay, "ms", Lower, 0.5, 0.2},
	{FirstBind, "ms", Lower, 500, 100},
	{Memory, "MiB", Lower, 800, 400},
	{Restart, "s", Lower, 10, 5},

	// package test/bench, controllers alone: floors of the issue that requested them
	{LargeJob, "", Higher, 0.8, 0.95},
	{SmallJobs, "", Higher, 0.5, 0.8}, // see Excuses
	{SmallAlone, "", Higher, 0, 0},
	{SmallBlind, "", Higher, 0, 0},
	{SmallMost, "", Higher, 0, 0},
	{SmallOfMost, "", Higher, 0.45, 0.8},
	{Control, "ms", Lower, 0.5, 0.25},
	{ControlSmall, "ms", Lower, 1.4, 0.5}, // our own floor; the aim is the value for a pod
	{DeletionGrowth, "", Lower, 5, 4},
	{IdleWrites, "writes", Lower, 0.5, 0.5},
	{IdleProcessor, "ms", Lower, 200, 50},
	{PendingWrites, "writes", Lower, 0.5, 0.5},
	{CreatePod, "ms", Lower, 0, 0},
	{BindPod, "ms", Lower, 0, 0},
	{CreateJob, "ms", Lower, 0, 0},
	{CreateLooseJob, "ms", Lower, 0, 0},
	{CreateBlindJob, "ms", Lower, 0, 0},
	{WebhooksHere, "ms", Lower, 0, 0},
	{WebhooksThere, "ms", Lower, 0, 0},
	{CreatePodGroup, "ms", Lower, 0, 0},
	{PatchPodGroup, "ms", Lower, 0, 0},
	{WriteJobStatus, "ms", Lower, 0, 0},
	{CreateEvent, "ms", Lower, 0, 0},
	{ListTime, "s", Lower, 1, 0},
	{ListMemory, "MB", Lower, 150, 0},
	{HelpTime, "ms", Lower, 50, 0},
	{SubmitArray, "s", Lower, 0, 1}, // the test requires 1 s for its fastest round
	{SqueueAll, "s", Lower, 0.3, 0},
	{SqueueAll + InProcessorTime, "s", Lower, 0.6, 0.3},
	{SqueueOne, "s", Lower, 0, 0.3},
	{SqueueOne + InProcessorTime, "s", Lower, 0.4, 0.2},
	{SqueueGone, "s", Lower, 0, 0.3},
	{SqueueGone + InProcessorTime, "s", Lower, 1, 0.5},
	{SacctAll, "s", Lower, 0, 0.4},
	{SacctAll + InProcessorTime, "s", Lower, 0.7, 0.4},
	{ScancelNone, "s", Lower, 0, 0.3},
	{ScancelNone + InProcessorTime, "s", Lower, 0.6, 0.3},
	{SubmitArray + InProcessorTime, "s", Lower, 1, 0.5},
	{FrameTime, "ms", Lower, 5, 1},
	{ApplyTime, "ms", Lower, 50, 10},
	{FirstFrame, "s", Lower, 1, 0},
	{KeyToFrame, "ms", Lower, 50, 25},
	{LetterToFrame, "ms", Lower, 75, 50}, // with watches and garbage collection at the same time
	{DashboardIdle, "%", Lower, 1, 0},
	{DashboardBytes, "kB/s", Lower, 20, 0},
	{DashboardMemory, "MB", Lower, 300, 0},
}

// The lines about the history of jobs. The name of the database follows all of them but
// HistoryAdd.
const (
	HistoryAdd   = "records/s added to SQLite, each with a document, in batches of 100"
	HistoryDay   = "one user's day out of 10 million records, "
	HistoryMonth = "use of a month by account and user out of 10 million records, "
	HistorySizes = "use of a month by account and size of jobs out of 10 million records, "
	// The month of HistoryNamespace begins and ends at midnight of a time zone east of UTC.
	HistoryNamespace = "use of a month by namespace out of 10 million records, "
	HistoryWaiting   = "waiting times of a month out of 10 million records, "
	HistoryDays      = "use of each day of a month by namespace out of 10 million records, "
)

// The lines of package test/bench. Way is followed by the jobs and the pods of a job.
const (
	Binds   = "bound pods/s of waiting pods, share of a bare loop of binds"
	Way     = "bare create and bind loops' time over that from submitting to the last bind, "
	Started = ", pods start"
	// WithAccounting is measured with jobs of 20 pods, whose pods run briefly.
	WithAccounting = "time from submitting to the last bind without accounting over that with accounting"
	// InProcessorTime is the suffix of lines that compare the processor time of all processes. On an idle machine it
	// equals wall-clock time, and on a busy one it is the better estimate.
	InProcessorTime = ", in processor time"
	// WayOfMost and the lines of Most are about jobs of one pod. All but WayOfMost are measured without vcd: they show
	// the best speed that the API server permits.
	WayOfMost        = "processor time of nothing but creates of Jobs, PodGroups and pods, and binds, over that of 5000x1"
	MostAlone        = "most that 5000x1 could reach, with nothing but creates of Jobs"
	MostLoose        = "most that 5000x1 could reach, with creates of Jobs whose schema does not know the pod template"
	MostBlind        = "most that 5000x1 could reach, with creates of Jobs whose schema knows nothing"
	Most             = "most that 5000x1 could reach, with creates of Jobs and PodGroups"
	MostBlindGrouped = "most that 5000x1 could reach, with creates of PodGroups and of Jobs whose schema knows nothing"
	// Processor is for pods whose missing PodGroup is reported first. ProcessorJobs is for pods that are created after
	// their PodGroup, like those of jobs, while the test does all other work. ProcessorWay is for jobs.
	Processor     = "scheduler's processor time a bound pod"
	ProcessorJobs = Processor + " whose PodGroup came first"
	ProcessorWay  = Processor + ", from submitting jobs of 100 to the last bind"
	FirstBind     = "first bind after the last pod of a gang of 1,000 exists"
	Memory        = "resident memory with ten pods a node"
	Restart       = "restart to first decision with ten pods a node"
)

// The lines about controllers.
const (
	LargeJob       = "bare create loop's time over that from submitting a job of 10,000 pods to the last one's creation"
	SmallJobs      = "bare create loop's time over that until each of 1,000 jobs of one pod has it"
	SmallMost      = "most that 1,000 jobs of one pod could reach, with the writes of Jobs, PodGroups and their phases"
	SmallAlone     = "most that 1,000 jobs of one pod could reach, with nothing but creates of Jobs"
	SmallBlind     = "most that 1,000 jobs of one pod could reach, with creates of Jobs whose schema knows nothing"
	SmallOfMost    = "processor time of those writes and creates of pods over that of 1,000 jobs of one pod"
	Control        = "controllers' processor time a pod, job of 10,000"
	ControlSmall   = "controllers' processor time a pod, jobs of one"
	DeletionGrowth = "controllers' processor time to delete a job of 4,000 pods, over that of a job of 1,000"
	IdleWrites     = "writes a minute of controllers that have a job of 10,000 finished pods"
	IdleProcessor  = "processor time a minute of controllers that have a job of 10,000 finished pods"
	PendingWrites  = "API writes a minute while 5,000 pods wait and nothing changes"
)

// The lines about the command line.
const (
	ListTime   = "processor time of vcctl job list of 10,000 jobs"
	ListMemory = "largest resident memory of vcctl job list of 10,000 jobs"
	HelpTime   = "processor time of vcctl --help"
	// SubmitArray is the wall-clock time of a new process.
	SubmitArray = "from calling sbatch --array=0-9999 to its job number"
	// SqueueAll, SqueueOne and SqueueGone are the wall-clock times of new processes.
	SqueueAll  = "from calling squeue to the last row of 10,000 jobs that wait"
	SqueueOne  = "the same for one of them by its number"
	SqueueGone = "the same for the number of a job that is gone"
	// SacctAll and ScancelNone are for the same jobs.
	SacctAll    = "from calling sacct -a to the last line of 10,000 jobs that wait"
	ScancelNone = "from calling scancel -u to its end, for a user who has none of 10,000 jobs that wait"
)

// The lines about the dashboard, at 5,000 nodes, 10,000 jobs and 100,000 pods.
const (
	FrameTime       = "processor time of a frame of the slowest screen of the dashboard at 160x50"
	ApplyTime       = "processor time of a snapshot of the dashboard after 1,000 pods and 100 jobs changed, and its screen brought up to date"
	FirstFrame      = "first frame of vcctl top with everything, after the last list"
	KeyToFrame      = "from a key to its frame in vcctl top, 99th percentile"
	LetterToFrame   = "the same for a letter of a filter, while 500 pods and 50 jobs change a second"
	DashboardIdle   = "processor that vcctl top takes while no object changes, including reads of the measured use"
	DashboardBytes  = "bytes that vcctl top writes to the terminal while 500 pods and 50 jobs change a second, on the worst screen"
	DashboardMemory = "resident memory of vcctl top, 20 s after its first frame"
)

// The processor time that the API server, including its client, needs for each request of a job of one pod, and that
// the webhooks of a Job need on either side.
const (
	CreatePod      = "cost of one create of a pod"
	BindPod        = "cost of one bind of a pod"
	CreateJob      = "cost of one create of a Job, no webhooks"
	CreateLooseJob = "cost of one create of a Job whose schema does not know the pod template"
	CreateBlindJob = "cost of one create of a Job whose schema knows nothing"
	WebhooksHere   = "cost of the two webhooks of one Job in the API server"
	WebhooksThere  = "cost of the two webhooks of one Job in vcd"
	CreatePodGroup = "cost of one create of a PodGroup"
	PatchPodGroup  = "cost of one patch of a PodGroup's phase"
	WriteJobStatus = "cost of one update of a Job's status"
	CreateEvent    = "cost of one create of an event"
)

// LineOf returns the line with this name. If the table does not contain it, the line has no floor.
func LineOf(name string) Line {
	for _, l := range Lines {
		if l.Name == name {
			return l
		}
	}
	return Line{Name: name}
}
