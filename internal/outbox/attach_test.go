package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// attachServer stores the objects that pods attach and checks resource versions.
type attachServer struct {
	api     *fakeAPI
	mu      sync.Mutex
	volumes map[string]*corev1.PersistentVolume
	claims  map[string]*corev1.PersistentVolumeClaim
	devices map[string]*resourcev1.ResourceClaim
	// binds is the delay after which the volume controller binds a volume to its claim; 0 means never.
	binds time.Duration
}

func newAttachServer(api *fakeAPI) *attachServer {
	s := &attachServer{api: api, volumes: map[string]*corev1.PersistentVolume{}, claims: map[string]*corev1.PersistentVolumeClaim{}, devices: map[string]*resourcev1.ResourceClaim{}}
	s.volumes["pv"] = &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv", ResourceVersion: "1"}}
	for _, name := range []string{"data", "made"} {
		s.claims[name] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: "1"}}
	}
	s.devices["cards"] = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cards", UID: "cards", ResourceVersion: "1"}}
	return s
}

func get[T interface{ DeepCopy() T }](s *attachServer, ctx context.Context, from map[string]T, kind, name string) (T, error) {
	var none T
	if err := s.api.call(ctx, "get "+kind+" "+name); err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := from[name]
	if !ok {
		return none, apierrors.NewNotFound(corev1.Resource(kind), name)
	}
	return o.DeepCopy(), nil
}

func (s *attachServer) Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return get(s, ctx, s.volumes, "volume", name)
}

func (s *attachServer) VolumeClaim(ctx context.Context, _, name string) (*corev1.PersistentVolumeClaim, error) {
	return get(s, ctx, s.claims, "claim", name)
}

func (s *attachServer) DeviceClaim(ctx context.Context, _, name string) (*resourcev1.ResourceClaim, error) {
	return get(s, ctx, s.devices, "devices", name)
}

func modified(kind, name string) error {
	return apierrors.NewConflict(corev1.Resource(kind), name, fmt.Errorf("the object has been modified"))
}

func (s *attachServer) PatchVolume(ctx context.Context, name string, patch []byte) error {
	if err := s.api.call(ctx, "give volume "+name); err != nil {
		return err
	}
	var p corev1.PersistentVolume
	if err := json.Unmarshal(patch, &p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pv := s.volumes[name]
	if pv.ResourceVersion != p.ResourceVersion {
		return modified("persistentvolumes", name)
	}
	pv.ResourceVersion += "1"
	pv.Spec.ClaimRef = p.Spec.ClaimRef
	if s.binds > 0 {
		time.AfterFunc(s.binds, func() { s.bind(p.Spec.ClaimRef.Name, name) })
	}
	return nil
}

// bind simulates the volume controller.
func (s *attachServer) bind(claim, volume string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.claims[claim]
	c.Spec.VolumeName = volume
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
}

func (s *attachServer) PatchVolumeClaim(ctx context.Context, _, name string, patch []byte) error {
	if err := s.api.call(ctx, "select node for "+name); err != nil {
		return err
	}
	var p corev1.PersistentVolumeClaim
	if err := json.Unmarshal(patch, &p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.claims[name]
	if c.ResourceVersion != p.ResourceVersion {
		return modified("persistentvolumeclaims", name)
	}
	c.ResourceVersion += "1"
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagehelpers.AnnSelectedNode, p.Annotations[storagehelpers.AnnSelectedNode])
	if s.binds > 0 {
		time.AfterFunc(s.binds, func() { s.bind(name, "new") })
	}
	return nil
}

func (s *attachServer) UpdateDeviceClaim(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return s.updateDevices(ctx, "hold devices ", claim)
}

func (s *attachServer) UpdateDeviceClaimStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	var pods []string
	for _, r := range claim.Status.ReservedFor {
		pods = append(pods, r.Name)
	}
	return s.updateDevices(ctx, "give devices to "+strings.Join(pods, ",")+" ", claim)
}

func (s *attachServer) updateDevices(ctx context.Context, what string, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	if err := s.api.call(ctx, what+claim.Name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.devices[claim.Name].ResourceVersion != claim.ResourceVersion {
		return nil, modified("resourceclaims", claim.Name)
	}
	claim = claim.DeepCopy()
	claim.ResourceVersion += "1"
	s.devices[claim.Name] = claim
	return claim.DeepCopy(), nil
}

func attaching(at decision.Attach) *decision.Decisions {
	d := one("p")
	at.Timeout = time.Minute
	d.Binds[0].Attach = &at
	return d
}

var (
	givesVolume = decision.VolumeBinding{Volume: "pv", ResourceVersion: "1", Claim: corev1.ObjectReference{Namespace: "ns", Name: "data", UID: "data"}}
	makesVolume = decision.Provision{Claim: decision.Object{Namespace: "ns", Name: "made", UID: "made"}, ResourceVersion: "1", Node: "n1"}
	givesCards  = decision.DeviceClaim{Claim: decision.Object{Namespace: "ns", Name: "cards", UID: "cards"}, Allocation: &resourcev1.AllocationResult{
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "d", Pool: "p", Device: "card0"}}},
	}}
)

// TestPodsAreBoundAfterWhatTheyAttach: the outbox first requests the volumes and devices of a pod and binds the pod
// when they are ready. If they do not become ready, it reports the pod.
func TestPodsAreBoundAfterWhatTheyAttach(t *testing.T) {
	cases := map[string]struct {
		attach decision.Attach
		server func(*attachServer)
		answer func(call string, nth int) error
		want   []string // calls, repeated checks once
		report string   // part of the failure; "" means none
	}{
		"a volume is given, bound by the controller, and then the pod": {
			attach: decision.Attach{Volumes: []decision.VolumeBinding{givesVolume}},
			server: func(s *attachServer) { s.binds = time.Second },
			want:   []string{"give volume pv", "get p", "get claim data", "get volume pv", "get p", "get claim data", "bind p n1", "event p Scheduled"},
		},
		"a volume is made near the node": {
			attach: decision.Attach{Provision: []decision.Provision{makesVolume}},
			server: func(s *attachServer) { s.binds = 20 * time.Millisecond },
			want:   []string{"select node for made", "get p", "get claim made", "bind p n1", "event p Scheduled"},
		},
		"devices are held, given and reserved, which needs no waiting": {
			attach: decision.Attach{Devices: []decision.DeviceClaim{givesCards}},
			want:   []string{"get devices cards", "hold devices cards", "give devices to p cards", "bind p n1", "event p Scheduled"},
		},
		"an answer that was lost is not a conflict": {
			attach: decision.Attach{Volumes: []decision.VolumeBinding{givesVolume}},
			server: func(s *attachServer) {
				s.volumes["pv"].ResourceVersion, s.volumes["pv"].Spec.ClaimRef = "11", &corev1.ObjectReference{UID: "data"}
				s.bind("data", "pv")
			},
			want: []string{"give volume pv", "get volume pv", "get p", "get claim data", "bind p n1", "event p Scheduled"},
		},
		"a volume that somebody else took": {
			attach: decision.Attach{Volumes: []decision.VolumeBinding{givesVolume}},
			server: func(s *attachServer) { s.volumes["pv"].ResourceVersion = "7" },
			want:   []string{"give volume pv", "get volume pv"},
			report: "the object has been modified",
		},
		"a claim that was bound to another volume": {
			attach: decision.Attach{Volumes: []decision.VolumeBinding{givesVolume}},
			server: func(s *attachServer) { s.bind("data", "other") },
			want:   []string{"give volume pv", "get p", "get claim data"},
			report: "claim data was bound to volume other, not pv",
		},
		"a provisioner that gives up says so by taking the node away": {
			attach: decision.Attach{Provision: []decision.Provision{makesVolume}},
			server: func(s *attachServer) {
				time.AfterFunc(time.Second, func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					delete(s.claims["made"].Annotations, storagehelpers.AnnSelectedNode)
				})
			},
			want:   []string{"select node for made", "get p", "get claim made"},
			report: "no volume could be provisioned for claim made on node n1",
		},
		"volumes that are never bound": {
			attach: decision.Attach{Provision: []decision.Provision{makesVolume}},
			want:   []string{"select node for made", "get p", "get claim made"},
			report: "volumes were not bound within 1m0s",
		},
		"a pod that went away meanwhile": {
			attach: decision.Attach{Provision: []decision.Provision{makesVolume}},
			answer: func(call string, _ int) error {
				if call == "get p" {
					return apierrors.NewNotFound(corev1.Resource("pods"), "p")
				}
				return nil
			},
			want:   []string{"select node for made", "get p"},
			report: "the pod no longer exists",
		},
		"devices that the claim got from somebody else": {
			attach: decision.Attach{Devices: []decision.DeviceClaim{givesCards}},
			server: func(s *attachServer) {
				s.devices["cards"].Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
					Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "d", Pool: "p", Device: "card1"}},
				}}
			},
			want:   []string{"get devices cards", "get devices cards"},
			report: "other devices have been allocated to the claim in the meantime",
		},
		"a pod that is not bound in the end gives its devices back": {
			attach: decision.Attach{Devices: []decision.DeviceClaim{givesCards}, Provision: []decision.Provision{makesVolume}},
			want: []string{
				"select node for made", "get devices cards", "hold devices cards", "give devices to p cards", "get p", "get claim made",
				"get devices cards", "give devices to  cards",
			},
			report: "volumes were not bound within 1m0s",
		},
		"what was judged and did not hold": {
			attach: decision.Attach{Problem: "NoVolume data"},
			report: "NoVolume data",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, &fakeAPI{answer: c.answer}, func(t *testing.T, r *rig) {
				server := newAttachServer(r.api)
				if c.server != nil {
					c.server(server)
				}
				r.o.Attach = server
				r.Put(attaching(c.attach))
				after(3 * time.Minute)
				if diff := cmp.Diff(c.want, once(r.api.seen())); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				reports := fmt.Sprint(r.reports())
				if (c.report == "") != (reports == "[]") || !strings.Contains(reports, c.report) {
					t.Errorf("reports %s, want %q", reports, c.report)
				}
				if !r.HasSettledAll() {
					t.Error("something is still waited for")
				}
			})
		})
	}
}

// once removes repeated checks.
func once(calls []string) []string {
	var out []string
	for _, call := range calls {
		out = append(out, call)
		for n := 2; n <= 3; n++ {
			if k := len(out); k >= 2*n && cmp.Equal(out[k-n:], out[k-2*n:k-n]) {
				out = out[:k-n]
			}
		}
	}
	return out
}

func TestWithoutAClientNothingIsAttached(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		r.Put(attaching(decision.Attach{Devices: []decision.DeviceClaim{givesCards}}))
		after(3 * time.Second)
		if got := fmt.Sprint(r.reports()); !strings.Contains(got, "is not configured to bind volumes") || len(r.api.seen()) != 0 {
			t.Errorf("calls %v, reports %s", r.api.seen(), got)
		}
	})
}

func TestAClaimGetsTheDevicesThatWereDecidedAndItsPod(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		server := newAttachServer(r.api)
		r.o.Attach = server
		r.Put(attaching(decision.Attach{Devices: []decision.DeviceClaim{givesCards}}))
		after(time.Minute)
		server.mu.Lock()
		defer server.mu.Unlock()
		status := server.devices["cards"].Status
		if diff := cmp.Diff(givesCards.Allocation, status.Allocation); diff != "" {
			t.Errorf("the claim's devices (-decided +written):\n%s", diff)
		}
		if len(status.ReservedFor) != 1 || status.ReservedFor[0].Name != "p" {
			t.Errorf("reserved for %v, want pod p", status.ReservedFor)
		}
	})
}
