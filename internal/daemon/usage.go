package daemon

import (
	"context"
	"encoding/json"
	"fmt"
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

// maxUsage is the maximum size to write, in bytes. A ConfigMap can hold one mebibyte.
const maxUsage = 900 << 10

// usageKeeper preserves the accounts' usage across restarts. It receives all decisions from the loop and passes them on
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
}

func newUsageKeeper(config *rest.Config, namespace string, next cycleloop.Effects, fence func() error, log logr.Logger) (*usageKeeper, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("client for account usage: %w", err)
	}
	return &usageKeeper{next: next, client: c, namespace: namespace, fence: fence, log: log, used: map[model.Account]model.Usage{}}, nil
}

// loadStoredUsage reads the last written usage. If this fails, scheduling continues and all accounts start at zero.
func (k *usageKeeper) loadStoredUsage(ctx context.Context) model.UsageSet {
	var stored corev1.ConfigMap
	var entries []model.UsageEntry
	err := k.client.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: keys.UsageName}, &stored)
	if err == nil && stored.Data[keys.UsageData] != "" {
		err = json.Unmarshal([]byte(stored.Data[keys.UsageData]), &entries)
	}
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		k.log.Error(err, "Account usage cannot be read; all accounts start at zero", "configMap", k.namespace+"/"+keys.UsageName)
	}
	k.recordUsage(entries)
	k.dirty = false
	return model.UsageSet{Entries: entries}
}

// Put records the usage that the decisions contain, and passes the decisions on.
func (k *usageKeeper) Put(d *decision.Decisions) {
	if len(d.Usage) > 0 {
		k.recordUsage(d.Usage)
	}
	k.next.Put(d)
}

func (k *usageKeeper) recordUsage(entries []model.UsageEntry) {
	k.mu.Lock()
	defer k.mu.Unlock()
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
	for {
		select {
		case <-tick.C:
			k.saveIfChanged(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			k.saveIfChanged(last)
			return
		}
	}
}

// saveIfChanged writes the usage if it has changed and this process is the leader.
func (k *usageKeeper) saveIfChanged(ctx context.Context) {
	text, due := k.usageAsJSON()
	if !due || k.fence() != nil {
		return
	}
	if err := k.writeUsage(ctx, text); err != nil {
		k.mu.Lock()
		k.dirty = true
		k.mu.Unlock()
		k.log.Error(err, "Could not write the account usage; trying again", "configMap", k.namespace+"/"+keys.UsageName)
	}
}

// usageAsJSON returns all usage as JSON, and whether it must be written. If there are too many accounts, it
// leaves out the accounts with the least usage.
func (k *usageKeeper) usageAsJSON() (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.dirty {
		return "", false
	}
	k.dirty = false
	entries := model.SortUsage(k.used)
	for {
		data, err := json.Marshal(entries)
		if err != nil {
			k.log.Error(err, "Could not write the account usage")
			return "", false
		}
		if len(data) <= maxUsage {
			return string(data), true
		}
		entries = entries[:len(entries)*maxUsage/len(data)]
	}
}

func (k *usageKeeper) writeUsage(ctx context.Context, text string) error {
	fresh := &corev1.ConfigMap{ObjectMeta: newObjectMeta(k.namespace, keys.UsageName), Data: map[string]string{keys.UsageData: text}}
	var old corev1.ConfigMap
	err := k.client.Get(ctx, client.ObjectKeyFromObject(fresh), &old)
	switch {
	case apierrors.IsNotFound(err):
		return k.client.Create(ctx, fresh)
	case err != nil:
		return err
	case old.Data[keys.UsageData] == text:
		return nil
	}
	old.Data = fresh.Data
	return k.client.Update(ctx, &old)
}
