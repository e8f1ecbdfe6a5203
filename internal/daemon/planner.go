package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/whatif"
)

const (
	// keepPlans is how long an answered Plan is kept, and the age up to which a Plan is answered.
	keepPlans = 5 * time.Minute
	// plansAgain is the retry interval while the Plan kind is not installed.
	plansAgain = 30 * time.Second
	// plansPatience is the longest time to wait for the loop to accept a request for a copy of the model.
	plansPatience = 30 * time.Second
)

// planner answers Plans, one after the other, and deletes them when they expire.
type planner struct {
	api        client.Client
	config     *rest.Config
	scheme     *runtime.Scheme
	schedulers []string
	fence      func() error
	copies     chan chan<- *model.Cluster // requests for copies of the model
	engine     newEngine
	now        func() time.Time
	log        logr.Logger
	// restUntil is the earliest start of the next simulation.
	restUntil time.Time
	// taken holds the plans that this process has started to answer.
	taken map[types.UID]bool
}

func newPlanner(o *Options, fence func() error, engine newEngine, log logr.Logger) (*planner, error) {
	scheme := newScheme()
	api, err := client.New(o.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("client for plans: %w", err)
	}
	return &planner{api: api, config: o.Config, scheme: scheme, schedulers: o.SchedulerNames, fence: fence,
		copies: make(chan chan<- *model.Cluster), engine: engine, now: time.Now, log: log, taken: map[types.UID]bool{}}, nil
}

// runPlanner answers Plans until ctx is done. While the kind is not installed, it retries.
func (p *planner) runPlanner(ctx context.Context) {
	for ctx.Err() == nil {
		if err := p.servePlans(ctx); err != nil {
			p.log.V(1).Info("Plans cannot be processed yet", "reason", err.Error())
		}
		select {
		case <-ctx.Done():
		case <-time.After(plansAgain):
		}
	}
}

// servePlans watches Plans and answers them.
func (p *planner) servePlans(ctx context.Context) error {
	plans, err := cache.New(p.config, cache.Options{Scheme: p.scheme})
	if err != nil {
		return fmt.Errorf("watch of plans: %w", err)
	}
	informer, err := plans.GetInformer(ctx, &insightv1alpha1.Plan{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch of plans: %w", err)
	}
	pending := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[client.ObjectKey]())
	add := func(object any) {
		if plan, ok := object.(*insightv1alpha1.Plan); ok {
			pending.Add(client.ObjectKeyFromObject(plan))
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, fresh any) { add(fresh) }}); err != nil {
		return fmt.Errorf("watch of plans: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		<-ctx.Done()
		pending.ShutDown()
	}()
	ended := make(chan error, 1)
	go func() { ended <- plans.Start(ctx) }()
	for {
		key, over := pending.Get()
		if over {
			return <-ended
		}
		again, err := p.processPlan(ctx, plans, key)
		switch {
		case err != nil && ctx.Err() == nil:
			p.log.V(1).Info("Retrying a plan", "plan", key, "reason", err.Error())
			pending.AddRateLimited(key)
		default:
			pending.Forget(key)
			if again > 0 {
				pending.AddAfter(key, again)
			}
		}
		pending.Done(key)
	}
}

// processPlan answers a Plan or deletes it. It returns the delay after which the Plan must be processed again; 0 means
// never.
func (p *planner) processPlan(ctx context.Context, plans client.Reader, key client.ObjectKey) (again time.Duration, err error) {
	plan := &insightv1alpha1.Plan{}
	if err := plans.Get(ctx, key, plan); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if plan.DeletionTimestamp != nil {
		return 0, nil
	}
	since := plan.CreationTimestamp.Time
	if at := plan.Status.AnsweredAt; at != nil {
		since = at.Time
	}
	left := keepPlans - p.now().Sub(since)
	switch {
	case left <= 0:
		if err := p.fence(); err != nil {
			return 0, err
		}
		return 0, client.IgnoreNotFound(p.api.Delete(ctx, plan, client.Preconditions{UID: &plan.UID}))
	case plan.Status.AnsweredAt != nil:
		return left, nil
	}
	status, err := p.answerOnce(ctx, plan)
	if err != nil {
		return 0, err
	}
	plan = plan.DeepCopy()
	plan.Status = *status
	if err = p.writeStatus(ctx, plan); err == nil || apierrors.IsNotFound(err) {
		delete(p.taken, plan.UID)
	}
	return keepPlans, ignoreGoneOrChanged(err)
}

// answerOnce answers a plan, unless an earlier scheduler process has started to answer it. Before the simulation, it
// records in the plan's status that it has started. If the simulation crashes the process, the next process reports
// that instead of repeating the simulation.
func (p *planner) answerOnce(ctx context.Context, plan *insightv1alpha1.Plan) (*insightv1alpha1.PlanStatus, error) {
	if plan.Status.TakenUpAt != nil && !p.taken[plan.UID] {
		at := metav1.NewTime(p.now())
		return &insightv1alpha1.PlanStatus{
			TakenUpAt: plan.Status.TakenUpAt, AnsweredAt: &at, Problem: "the scheduler that simulated the plan stopped before the simulation was complete",
			Hint: "create the plan again; if the scheduler stops again, plan fewer pods at once",
		}, nil
	}
	if !p.taken[plan.UID] {
		marked := plan.DeepCopy()
		at := metav1.NewTime(p.now())
		marked.Status.TakenUpAt = &at
		if err := p.writeStatus(ctx, marked); err != nil {
			return nil, err
		}
		p.taken[plan.UID] = true
		plan.ResourceVersion, plan.Status.TakenUpAt = marked.ResourceVersion, &at
	}
	q, err := p.readQuestion(ctx, plan)
	if err != nil {
		return nil, err
	}
	simulation := whatif.PrepareSimulation(q)
	status, is := simulation.RejectedStatus(p.now())
	if !is {
		if status, err = p.simulateOnCopy(ctx, simulation); err != nil {
			return nil, err
		}
	}
	status.TakenUpAt = plan.Status.TakenUpAt
	return &status, nil
}

// writeStatus updates the status of a plan if this process is still the leader.
func (p *planner) writeStatus(ctx context.Context, plan *insightv1alpha1.Plan) error {
	if err := p.fence(); err != nil {
		return err
	}
	return p.api.Status().Update(ctx, plan)
}

// ignoreGoneOrChanged turns an error about a deleted or changed plan into nil, because the planner will process the
// plan again.
func ignoreGoneOrChanged(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// simulateOnCopy simulates a plan on a copy of the model. Before the next simulation, the planner pauses for twice the
// time that this one took, so that simulations use at most a third of one processor.
func (p *planner) simulateOnCopy(ctx context.Context, simulation *whatif.Simulation) (status insightv1alpha1.PlanStatus, err error) {
	p.pauseForShare(ctx, p.restUntil.Sub(p.now()))
	cluster, err := p.requestModelCopy(ctx)
	if err != nil {
		return status, err
	}
	began := p.now()
	defer func() { p.restUntil = p.now().Add(2 * p.now().Sub(began)) }()
	if status, err = p.runSimulation(ctx, simulation, cluster); err != nil {
		return status, err
	}
	if status.AnsweredAt == nil {
		at := metav1.NewTime(p.now())
		status.AnsweredAt = &at
	}
	return status, nil
}

func (p *planner) pauseForShare(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// readQuestion reads the objects that a simulation needs. All lists come from the API server's cache, so that plans put
// no load on etcd.
func (p *planner) readQuestion(ctx context.Context, plan *insightv1alpha1.Plan) (*whatif.Question, error) {
	q := &whatif.Question{Plan: plan, Claims: map[string]bool{}, SchedulerNames: p.schedulers, Now: p.now()}
	cached := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	queues, classes, claims := &schedulingv1beta1.QueueList{}, &schedulingv1.PriorityClassList{}, &corev1.PersistentVolumeClaimList{}
	err := errors.Join(p.api.List(ctx, queues, cached), p.api.List(ctx, classes, cached), p.api.List(ctx, claims, cached, client.InNamespace(plan.Namespace)))
	if err != nil {
		return nil, fmt.Errorf("read queues, priority classes and volume claims: %w", err)
	}
	for i := range queues.Items {
		q.Queues = append(q.Queues, &queues.Items[i])
	}
	for i := range classes.Items {
		q.Classes = append(q.Classes, &classes.Items[i])
	}
	for i := range claims.Items {
		q.Claims[claims.Items[i].Name] = true
	}
	if !hasDependency(plan) {
		return q, nil
	}
	jobs := &batchv1alpha1.JobList{}
	if err := p.api.List(ctx, jobs, cached); err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	for i := range jobs.Items {
		q.Jobs = append(q.Jobs, &jobs.Items[i])
	}
	return q, nil
}

// hasDependency reports whether a planned job depends on other jobs. Jobs are read only if this is the case.
func hasDependency(plan *insightv1alpha1.Plan) bool {
	for i := range plan.Spec.Objects {
		var head struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		if json.Unmarshal(plan.Spec.Objects[i].Raw, &head) == nil && head.Metadata.Annotations[keys.Dependency] != "" {
			return true
		}
	}
	return false
}
