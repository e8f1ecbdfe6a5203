package kube

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	kubeframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// everything is the configuration with all plugins enabled.
var everything = framework.Attaching{Limits: true, Zones: true, Binding: true, Devices: true, BindTimeout: time.Minute, DeviceTimeout: 10 * time.Second}

// storageWorld is a random cluster with volumes.
type storageWorld struct {
	nodes   []*corev1.Node
	objects []metav1.Object
	running []*corev1.Pod
	claims  []string
}

const disks = "disks.example.com"

func drawStorage(t *rapid.T) *storageWorld {
	w := &storageWorld{}
	hosts := []string{"n0", "n1", "n2", "n3"}
	for _, name := range hosts {
		b := make.Node(name)
		if rapid.IntRange(0, 9).Draw(t, "nameless") == 0 {
			delete(b.Obj().Labels, corev1.LabelHostname)
		}
		if zone := rapid.SampledFrom([]string{"", "east", "west"}).Draw(t, "zone"); zone != "" {
			b.Label(corev1.LabelTopologyZone, zone)
		}
		w.nodes = append(w.nodes, b.Obj())
		if rapid.Bool().Draw(t, "limited") {
			n := int32(rapid.IntRange(0, 2).Draw(t, "limit"))
			w.add(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
				Name: disks, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &n},
			}}}})
		}
	}
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	w.add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "now"}, VolumeBindingMode: &now, Provisioner: disks})
	w.add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"}, VolumeBindingMode: &wait, Provisioner: storagehelpers.NotSupportedProvisioner})
	w.add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "made"}, VolumeBindingMode: &wait, Provisioner: disks, AllowedTopologies: rapid.SampledFrom([][]corev1.TopologySelectorTerm{
		nil, {{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"east"}}}}},
	}).Draw(t, "topology")})
	if rapid.Bool().Draw(t, "capacities") {
		yes := true
		w.add(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: disks}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}})
		free := resource.MustParse(rapid.SampledFrom([]string{"1Gi", "100Gi"}).Draw(t, "free"))
		w.add(&storagev1.CSIStorageCapacity{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "east"}, StorageClassName: "made", Capacity: &free,
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: "east"}},
		})
	}
	w.drawVolumes(t, hosts)
	w.drawClaims(t, hosts)
	for i := range rapid.IntRange(0, 4).Draw(t, "running") {
		pod := make.Pod(fmt.Sprintf("running%d", i)).On(rapid.SampledFrom(hosts).Draw(t, "on")).Obj()
		w.drawMounts(t, pod)
		w.running = append(w.running, pod)
	}
	return w
}

func (w *storageWorld) add(o metav1.Object) {
	o.SetResourceVersion(fmt.Sprint(len(w.objects) + 1))
	o.SetUID(types.UID(fmt.Sprintf("%T-%s", o, o.GetName())))
	w.objects = append(w.objects, o)
}

// drawVolumes draws volumes of different sizes, so that the smallest is unique.
func (w *storageWorld) drawVolumes(t *rapid.T, hosts []string) {
	for i := range rapid.IntRange(0, 5).Draw(t, "volumes") {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pv%d", i)}, Spec: corev1.PersistentVolumeSpec{
			StorageClassName: rapid.SampledFrom([]string{"local", "local", "made", ""}).Draw(t, "class"),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteOncePod},
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(int64(3+rapid.IntRange(0, 4).Draw(t, "size")*5+i)<<30, resource.BinarySI)},
		}, Status: corev1.PersistentVolumeStatus{Phase: rapid.SampledFrom([]corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeReleased}).Draw(t, "phase")}}
		if rapid.Bool().Draw(t, "csi") {
			pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: disks, VolumeHandle: pv.Name}
		}
		expression := func(key string, values ...string) corev1.NodeSelectorTerm {
			return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
		}
		var terms []corev1.NodeSelectorTerm
		switch rapid.IntRange(0, 4).Draw(t, "affinity") {
		case 0:
			terms = append(terms, expression(corev1.LabelHostname, rapid.SampledFrom(hosts).Draw(t, "host")))
		case 1:
			terms = append(terms, expression(corev1.LabelHostname, hosts[0]), expression(corev1.LabelTopologyZone, "west"))
		case 2:
			terms = append(terms, expression(corev1.LabelHostname, hosts[0], hosts[1]), expression(corev1.LabelHostname, hosts[3]))
		case 3:
			pv.Labels = map[string]string{corev1.LabelTopologyZone: "east"}
		}
		if terms != nil {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
		}
		if rapid.IntRange(0, 2).Draw(t, "reserved") == 0 { // reserved by a user for a claim; with two volumes for one claim the choice would be random
			pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: fmt.Sprintf("claim%d", i)}
		}
		w.add(pv)
	}
}

func (w *storageWorld) drawClaims(t *rapid.T, hosts []string) {
	for i := range rapid.IntRange(1, 4).Draw(t, "claims") {
		class := rapid.SampledFrom([]string{"local", "local", "made", "now", "unknown"}).Draw(t, "class")
		pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("claim%d", i)}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{rapid.SampledFrom([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteOncePod}).Draw(t, "mode")},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")}},
		}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}
		switch rapid.IntRange(0, 9).Draw(t, "state") {
		case 0, 1, 2, 3: // bound, perhaps to a volume that does not exist
			pvc.Spec.VolumeName, pvc.Status.Phase = fmt.Sprintf("pv%d", rapid.IntRange(0, 5).Draw(t, "volume")), corev1.ClaimBound
			metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
		case 4:
			pvc.Spec.VolumeName = "pv0" // not fully bound
		case 5:
			pvc.Spec.VolumeName, pvc.Status.Phase = "pv1", corev1.ClaimLost
		case 6:
			metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, storagehelpers.AnnSelectedNode, rapid.SampledFrom(hosts).Draw(t, "selected"))
		}
		if rapid.IntRange(0, 19).Draw(t, "deleting") == 0 {
			pvc.DeletionTimestamp = &metav1.Time{Time: make.Epoch}
		}
		w.claims = append(w.claims, pvc.Name)
		w.add(pvc)
	}
	w.claims = append(w.claims, "missing")
}

func (w *storageWorld) drawMounts(t *rapid.T, pod *corev1.Pod) {
	for i := range rapid.IntRange(1, 2).Draw(t, "mounts") {
		v := corev1.Volume{Name: fmt.Sprintf("v%d", i)}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			v.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: "disk"}
		case 1:
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		case 2:
			v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}
		default:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: rapid.SampledFrom(w.claims).Draw(t, "claim")}
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, v)
	}
}

// direct runs the plugins on lists of plain objects, as kube-scheduler does.
type direct struct {
	fwk.Handle
	ctx      context.Context
	factory  informers.SharedInformerFactory
	snapshot *cache.Snapshot
	client   kubernetes.Interface
	plugins  []plugin
}

func (d *direct) SharedInformerFactory() informers.SharedInformerFactory { return d.factory }
func (d *direct) ClientSet() kubernetes.Interface                        { return d.client }
func (d *direct) SnapshotSharedLister() fwk.SharedLister                 { return d.snapshot }
func (d *direct) SharedCSIManager() fwk.CSIManager {
	return nodevolumelimits.NewCSIManager(d.factory.Storage().V1().CSINodes().Lister())
}

func newDirect(t *rapid.T, w *storageWorld) *direct {
	client := fake.NewClientset()
	d := &direct{ctx: klog.NewContext(context.Background(), logr.Discard()), factory: informers.NewSharedInformerFactory(client, 0), client: client, snapshot: cache.NewSnapshot(w.running, w.nodes)}
	f := featureGates(everything)
	for _, build := range []func() (fwk.Plugin, error){
		func() (fwk.Plugin, error) { return volumerestrictions.New(d.ctx, nil, d, f) },
		func() (fwk.Plugin, error) { return nodevolumelimits.NewCSI(d.ctx, nil, d, f) },
		func() (fwk.Plugin, error) { return volumezone.New(d.ctx, nil, d, f) },
		func() (fwk.Plugin, error) {
			return volumebinding.New(d.ctx, &config.VolumeBindingArgs{BindTimeoutSeconds: 60}, d, f)
		},
	} {
		p, err := build()
		if err != nil {
			t.Fatal(err)
		}
		d.plugins = append(d.plugins, p.(plugin))
	}
	core, storage := d.factory.Core().V1(), d.factory.Storage().V1()
	for _, o := range w.objects {
		var err error
		switch o := o.(type) {
		case *corev1.PersistentVolume:
			err = core.PersistentVolumes().Informer().GetIndexer().Add(o)
		case *corev1.PersistentVolumeClaim:
			err = core.PersistentVolumeClaims().Informer().GetIndexer().Add(o)
		case *storagev1.StorageClass:
			err = storage.StorageClasses().Informer().GetIndexer().Add(o)
		case *storagev1.CSINode:
			err = storage.CSINodes().Informer().GetIndexer().Add(o)
		case *storagev1.CSIDriver:
			err = storage.CSIDrivers().Informer().GetIndexer().Add(o)
		case *storagev1.CSIStorageCapacity:
			err = storage.CSIStorageCapacities().Informer().GetIndexer().Add(o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// judge returns the nodes on which the plugins allow a pod, and keeps the state for reserving.
func (d *direct) judge(t *rapid.T, pod *corev1.Pod) (fits map[string]bool, why map[string]string, state fwk.CycleState) {
	state = kubeframework.NewCycleState()
	infos, err := d.snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	fits, why = map[string]bool{}, map[string]string{}
	var ask []plugin
	for _, p := range d.plugins {
		_, status := p.PreFilter(d.ctx, state, pod, infos)
		switch {
		case status.IsSkip():
		case status.IsSuccess():
			ask = append(ask, p)
		default:
			for _, info := range infos {
				why[info.Node().Name] = p.Name() + ": " + status.Message()
			}
			return fits, why, state
		}
	}
	for _, info := range infos {
		name := info.Node().Name
		fits[name] = true
		for _, p := range ask {
			if status := p.Filter(d.ctx, state, pod, info); !status.IsSuccess() {
				fits[name], why[name] = false, p.Name()+": "+status.Message()
				break
			}
		}
	}
	return fits, why, state
}

// TestVolumesAgree checks, for random pods, volumes and nodes, that the adapter's results equal the results of
// running the plugins directly. After a pod is placed, the results for the next pod must agree too; after the
// placement is undone, the first results must return.
func TestVolumesAgree(t *testing.T) {
	propertytest.Check(t, 2000, func(t *rapid.T) {
		w := drawStorage(t)
		c := model.New()
		for _, n := range w.nodes {
			c.Apply(model.NodeFrom(n))
		}
		for _, o := range w.objects {
			c.Apply(model.ObjectSet{Object: o})
		}
		for _, p := range w.running {
			c.Apply(model.TaskFrom(p, false))
		}
		var pods []*corev1.Pod
		for i := range 2 {
			pod := make.Pod(fmt.Sprintf("new%d", i)).Obj()
			w.drawMounts(t, pod)
			pods = append(pods, pod)
			c.Apply(model.TaskFrom(pod, true))
		}
		var view overlay.Overlay
		view.Sync(c)
		a := New()
		a.Open(&session.Session{Cluster: c, View: &view}, everything)
		d := newDirect(t, w)

		compare := func(pod *corev1.Pod) (fits []string, state fwk.CycleState) {
			t.Helper()
			want, why, state := d.judge(t, pod)
			task := c.Task(pod.UID)
			for _, n := range w.nodes {
				id, _ := c.Nodes.Find(n.Name)
				got := verdict{}
				if task.Shape.Attached != nil {
					got = a.judgeNode(task.Shape, id, false)
				}
				if (got.code == "") != want[n.Name] {
					t.Fatalf("%s on %s: adapter says %q %s, plugins say %q", pod.Name, n.Name, got.code, got.detail, why[n.Name])
				}
				if want[n.Name] {
					fits = append(fits, n.Name)
				}
			}
			return fits, state
		}
		fits, state := compare(pods[0])
		compare(pods[1])
		first := c.Task(pods[0].UID)
		if len(fits) == 0 || first.Shape.Attached == nil {
			return
		}
		on := rapid.SampledFrom(fits).Draw(t, "takes")
		id, _ := c.Nodes.Find(on)
		a.followPlaced(first, id, 1)
		for _, p := range d.plugins {
			if r, ok := p.(fwk.ReservePlugin); ok {
				if status := r.Reserve(d.ctx, state, pods[0], on); !status.IsSuccess() {
					t.Fatal(status.Message())
				}
			}
		}
		if r := a.taken[first]; r.problem != "" {
			t.Fatalf("taken with a problem: %s", r.problem)
		}
		before := d.snapshot
		placed := pods[0].DeepCopy()
		placed.Spec.NodeName = on
		d.retake(append(append([]*corev1.Pod(nil), w.running...), placed), w.nodes)
		compare(pods[1])

		a.followPlaced(first, id, -1)
		for _, p := range d.plugins {
			if r, ok := p.(fwk.ReservePlugin); ok {
				r.Unreserve(d.ctx, state, pods[0], on)
			}
		}
		*d.snapshot = *before
		d.retake(w.running, w.nodes)
		compare(pods[0])
		compare(pods[1])
	})
}

// retake replaces the content of the snapshot.
func (d *direct) retake(pods []*corev1.Pod, nodes []*corev1.Node) {
	*d.snapshot = *cache.NewSnapshot(pods, nodes)
}
