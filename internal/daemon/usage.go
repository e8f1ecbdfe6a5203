package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// usageEvery is the minimum time between two writes of the accounts' usage. In a crash, the starts and ends of pods
// within that time are lost.
const usageEvery = 30 * time.Second

// budgetUsageEvery is like usageEvery for the usage of budgets. In a crash, pods that both start and end within that time
// are not charged.
const budgetUsageEvery = 5 * time.Second

// maxUsage is the maximum size to write, in bytes. A ConfigMap can hold one mebibyte.
const maxUsage = 900 << 10

// usageKeeper preserves the accounts' usage, and the usage of their budgets, across restarts. It receives all decisions from the loop and passes them on
// to the outbox.
type usageKeeper struct {
	next      cycleloop.Effects
	client    client.Client
	namespace string
	fence     func() error
	log       logr.Logger

	mu    sync.Mutex
	used  map[model.Account]model.Usage
	dirty bool
	// budgets holds the usage of budgets by account.
	budgets      map[string]*model.BudgetUsage
	budgetsDirty bool
}

func newUsageKeeper(config *rest.Config, namespace string, next cycleloop.Effects, fence func() error, log logr.Logger) (*usageKeeper, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("client for account usage: %w", err)
	}
	return &usageKeeper{next: next, client: c, namespace: namespace, fence: fence, log: log, used: map[model.Account]model.Usage{}, budgets: map[string]*model.BudgetUsage{}}, nil
}

// loadStoredUsage reads the last written usage. If the data is invalid, scheduling continues and all accounts start at
// zero. If it cannot be read, jobs could exceed budgets, so an error is returned.
func (k *usageKeeper) loadStoredUsage(ctx context.Context) (model.UsageSet, model.BudgetUsageSet, error) {
	var stored corev1.ConfigMap
	err := k.client.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: keys.UsageName}, &stored)
	if err != nil && !apierrors.IsNotFound(err) {
		return model.UsageSet{}, model.BudgetUsageSet{}, fmt.Errorf("read account usage from ConfigMap %s/%s: %w", k.namespace, keys.UsageName, err)
	}
	var entries []model.UsageEntry
	var budgets []model.BudgetUsageEntry
	k.parseStored(&stored, keys.UsageData, &entries)
	k.parseStored(&stored, keys.BudgetUsageData, &budgets)
	k.recordUsage(entries, budgets)
	k.dirty, k.budgetsDirty = false, false
	return model.UsageSet{Entries: entries}, model.BudgetUsageSet{Entries: budgets}, nil
}

// parseStored parses the JSON of a key.
func (k *usageKeeper) parseStored(stored *corev1.ConfigMap, key string, into any) {
	if stored.Data[key] == "" {
		return
	}
	if err := json.Unmarshal([]byte(stored.Data[key]), into); err != nil {
		k.log.Error(err, "Account usage is invalid; all accounts start at zero", "configMap", k.namespace+"/"+keys.UsageName, "key", key)
	}
}

// Put records the usage that the decisions contain, and passes the decisions on.
func (k *usageKeeper) Put(d *decision.Decisions) {
	if len(d.Usage)+len(d.BudgetUsage) > 0 {
		k.recordUsage(d.Usage, d.BudgetUsage)
	}
	k.next.Put(d)
}

func (k *usageKeeper) recordUsage(entries []model.UsageEntry, budgets []model.BudgetUsageEntry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range budgets {
		k.budgetsDirty = true
		if e.Usage == nil {
			delete(k.budgets, e.Account)
			continue
		}
		k.budgets[e.Account] = e.Usage
	}
	for _, e := range entries {
		k.dirty = true
		if e.Usage.Value == 0 && e.Usage.Rate == 0 {
			delete(k.used, e.Account)
			continue
		}
		k.used[e.Account] = e.Usage
	}
}

// writePeriodically writes the usage periodically until ctx is done, and then once more.
func (k *usageKeeper) writePeriodically(ctx context.Context) {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	budgetTick := time.NewTicker(budgetUsageEvery)
	defer budgetTick.Stop()
	for {
		select {
		case <-tick.C:
			k.saveIfChanged(ctx)
		case <-budgetTick.C:
			if k.hasNewBudgetUsage() {
				k.saveIfChanged(ctx)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			k.saveIfChanged(last)
			return
		}
	}
}

func (k *usageKeeper) hasNewBudgetUsage() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.budgetsDirty
}

// saveIfChanged writes the usage if it has changed and this process is the leader.
func (k *usageKeeper) saveIfChanged(ctx context.Context) {
	data, due := k.usageAsJSON()
	if !due || k.fence() != nil {
		return
	}
	if err := k.writeUsage(ctx, data); err != nil {
		k.mu.Lock()
		k.dirty, k.budgetsDirty = true, true
		k.mu.Unlock()
		k.log.Error(err, "Could not write the account usage; trying again", "configMap", k.namespace+"/"+keys.UsageName)
	}
}

// usageAsJSON returns the data of the ConfigMap, and whether it must be written. If there are too many accounts, it
// leaves out the accounts with the least usage, but no budgets.
func (k *usageKeeper) usageAsJSON() (data map[string]string, isDue bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.dirty && !k.budgetsDirty {
		return nil, false
	}
	k.dirty, k.budgetsDirty = false, false
	budgets, err := json.Marshal(model.SortBudgetUsage(k.budgets))
	if err != nil {
		k.log.Error(err, "Could not write the usage of budgets")
		return nil, false
	}
	most := max(maxUsage-len(budgets), 0)
	entries := model.SortUsage(k.used)
	for {
		usage, err := json.Marshal(entries)
		if err != nil {
			k.log.Error(err, "Could not write the account usage")
			return nil, false
		}
		if len(usage) <= most || len(entries) == 0 {
			return map[string]string{keys.UsageData: string(usage), keys.BudgetUsageData: string(budgets)}, true
		}
		entries = entries[:len(entries)*most/len(usage)]
	}
}

func (k *usageKeeper) writeUsage(ctx context.Context, data map[string]string) error {
	fresh := &corev1.ConfigMap{ObjectMeta: newObjectMeta(k.namespace, keys.UsageName), Data: data}
	var old corev1.ConfigMap
	err := k.client.Get(ctx, client.ObjectKeyFromObject(fresh), &old)
	switch {
	case apierrors.IsNotFound(err):
		return k.client.Create(ctx, fresh)
	case err != nil:
		return err
	case maps.Equal(old.Data, data):
		return nil
	}
	old.Data = fresh.Data
	return k.client.Update(ctx, &old)
}
