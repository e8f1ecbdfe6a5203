package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/apiobject"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// namespace is the namespace of all pods and claims.
const namespace = "default"

// put gives an object a new version and sends it to the model.
func (w *world) put(o metav1.Object) {
	w.made++
	o.SetResourceVersion(strconv.Itoa(w.made))
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("%T-%s", o, o.GetName())))
	}
	w.objects[objectKey(o)] = o
	w.model.Apply(model.ObjectSet{Object: o})
}

func objectKey(o metav1.Object) string { return fmt.Sprintf("%T/%s", o, apiobject.Key(o)) }

func (w *world) loseObject(o metav1.Object) {
	delete(w.objects, objectKey(o))
	w.model.Apply(model.ObjectGone{Object: o})
}

// retell sends all objects to a new model.
func (w *world) retell() {
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		w.model.Apply(model.ObjectSet{Object: w.objects[key]})
	}
}

func find[T metav1.Object](w *world, key string) T {
	var zero T
	o, ok := w.objects[fmt.Sprintf("%T/%s", zero, key)]
	if !ok {
		w.fatal("there is no %T %s", zero, key)
	}
	return o.(interface{ DeepCopyObject() runtime.Object }).DeepCopyObject().(T)
}

// parameters are key=value words. done checks that all of them were used.
type parameters struct {
	w    *world
	line string
	left map[string]string
}

func (w *world) parameters(args []string) *parameters {
	p := &parameters{w: w, line: strings.Join(args, " "), left: map[string]string{}}
	for _, word := range args {
		key, value := pair(word)
		p.left[key] = value
	}
	return p
}

func (p *parameters) take(key, fallback string) string {
	v, ok := p.left[key]
	if !ok {
		return fallback
	}
	delete(p.left, key)
	return v
}

func (p *parameters) done() {
	for key := range p.left {
		p.w.fatal("%s: %q: no such word", p.line, key)
	}
}

// storage creates objects for volumes and devices. The cases describe the kinds.
func (w *world) storage(kind string, args []string) []string {
	name, p := args[0], w.parameters(args[1:])
	switch kind {
	case "storageclass": // with wait, volumes are bound when a node is chosen; provisioner=NAME creates them
		mode := storagev1.VolumeBindingImmediate
		if _, wait := p.left["wait"]; wait {
			p.take("wait", "")
			mode = storagev1.VolumeBindingWaitForFirstConsumer
		}
		w.put(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &mode, Provisioner: p.take("provisioner", storagehelpers.NotSupportedProvisioner)})
	case "storage": // storage CLASS driver=N zone=Z size=S: the storage capacity that the driver reports for the zone
		w.storageRoom(name, p)
	case "volume":
		w.volume(name, p)
	case "claim": // volume=NAME: bound to this volume
		w.volumeClaim(name, p)
	case "attachable": // attachable NODE driver=N
		var drivers []storagev1.CSINodeDriver
		for _, driver := range slices.Sorted(maps.Keys(p.left)) {
			n := int32(number(w, p.take(driver, "")))
			drivers = append(drivers, storagev1.CSINodeDriver{Name: driver, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &n}})
		}
		w.put(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: drivers}})
	case "deviceclass":
		w.put(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", name)}}},
		}})
	case "devices": // devices NODE driver=N
		for _, driver := range slices.Sorted(maps.Keys(p.left)) {
			w.slice(name, driver, number(w, p.take(driver, "")))
		}
	case "taintrule": // taintrule NAME pool=NODE device=N: taints the devices of a pool
		w.taintRule(name, p)
	case "deviceclaim":
		w.put(deviceClaim(name, p.take("class", ""), int64(number(w, p.take("count", "1")))))
	}
	p.done()
	return []string{kind + " " + name}
}

func (w *world) storageRoom(class string, p *parameters) {
	driver, zone, size, yes := p.take("driver", ""), p.take("zone", ""), resource.MustParse(p.take("size", "")), true
	w.put(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}})
	w.put(&storagev1.CSIStorageCapacity{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: class + "-" + zone}, StorageClassName: class, Capacity: &size,
		NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{"zone": zone}},
	})
}

func (w *world) volume(name string, p *parameters) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	pv.Spec.StorageClassName = p.take("class", "")
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(p.take("size", "1Gi"))}
	pv.Status.Phase = corev1.VolumeAvailable
	if zone := p.take("zone", ""); zone != "" {
		pv.Labels[corev1.LabelTopologyZone] = zone
	}
	if host := p.take("host", ""); host != "" {
		pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/" + name}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{host}}},
		}}}}
	}
	if driver := p.take("driver", ""); driver != "" {
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
	}
	w.put(pv)
}

func (w *world) volumeClaim(name string, p *parameters) {
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	class := p.take("class", "")
	pvc.Spec.StorageClassName = &class
	pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(p.take("mode", string(corev1.ReadWriteOnce)))}
	pvc.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(p.take("size", "1Gi"))}
	volume := p.take("volume", "")
	w.put(pvc)
	if volume != "" {
		w.bindVolume(name, volume)
	}
}

// bindVolume binds a claim to a volume, as the volume controller does. The volume may be missing.
func (w *world) bindVolume(claim, volume string) {
	pvc := find[*corev1.PersistentVolumeClaim](w, namespace+"/"+claim)
	pvc.Spec.VolumeName, pvc.Status.Phase = volume, corev1.ClaimBound
	metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
	w.put(pvc)
	if _, ok := w.objects["*v1.PersistentVolume/"+volume]; !ok {
		return
	}
	pv := find[*corev1.PersistentVolume](w, volume)
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: claim, UID: pvc.UID}
	pv.Status.Phase = corev1.VolumeBound
	w.put(pv)
}

// slice publishes the devices of a driver on a node.
func (w *world) slice(node, driver string, count int) {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-" + driver}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}}
	for i := range count {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("card%d", i)})
	}
	w.put(s)
}

// taintRule adds a rule that taints the devices with these names.
func (w *world) taintRule(name string, p *parameters) {
	optional := func(key string) *string {
		if value := p.take(key, ""); value != "" {
			return &value
		}
		return nil
	}
	w.put(&resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: optional("driver"), Pool: optional("pool"), Device: optional("device")},
		Taint:          resourcev1.DeviceTaint{Key: "example.com/" + name, Effect: resourcev1.DeviceTaintEffectNoSchedule},
	}})
}

func deviceClaim(name, class string, count int64) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "all", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
		}}}},
	}}
}

// mount makes a pod use a volume claim. # in the claim's name is replaced by the pod's number.
func mount(pod *corev1.Pod, claim string) {
	claim = strings.ReplaceAll(claim, "#", pod.Name[strings.LastIndexByte(pod.Name, '-')+1:])
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}})
}

// useDevices makes a pod use a device claim. # in the claim's name is replaced by the pod's number.
func useDevices(pod *corev1.Pod, claim string) {
	claim = strings.ReplaceAll(claim, "#", pod.Name[strings.LastIndexByte(pod.Name, '-')+1:])
	pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: claim, ResourceClaimName: &claim})
}

// attach executes the steps before a bind, and then those of the volume controller.
func (w *world) attach(b *decision.Bind) {
	if b.Attach == nil {
		return
	}
	for _, v := range b.Attach.Volumes {
		w.bindVolume(v.Claim.Name, v.Volume)
	}
	for _, p := range b.Attach.Provision {
		name := "made-for-" + p.Claim.Name
		w.volume(name, w.parameters([]string{"host=" + p.Node}))
		w.bindVolume(p.Claim.Name, name)
	}
	for _, d := range b.Attach.Devices {
		claim := find[*resourcev1.ResourceClaim](w, d.Claim.Key())
		claim.Status.Allocation = d.Allocation
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, decision.ConsumerReference(b.Pod))
		w.put(claim)
	}
}

// sayAttach describes the steps before a bind.
func sayAttach(b *decision.Bind) []string {
	if b.Attach == nil {
		return nil
	}
	var out []string
	if d := b.Attach.Timeout; d != 10*time.Minute {
		out = append(out, fmt.Sprintf("  %s waits at most %s", b.Pod.Name, d))
	}
	if b.Attach.Problem != "" {
		out = append(out, fmt.Sprintf("  %s cannot: %s", b.Pod.Name, b.Attach.Problem))
	}
	for _, v := range b.Attach.Volumes {
		out = append(out, fmt.Sprintf("  volume %s to claim %s", v.Volume, v.Claim.Name))
	}
	for _, p := range b.Attach.Provision {
		out = append(out, fmt.Sprintf("  make a volume for claim %s near %s", p.Claim.Name, p.Node))
	}
	for _, d := range b.Attach.Devices {
		var devices []string
		for _, r := range d.Allocation.Devices.Results {
			devices = append(devices, r.Pool+"/"+r.Device)
		}
		out = append(out, fmt.Sprintf("  devices %s to claim %s, for %s", strings.Join(devices, " "), d.Claim.Name, b.Pod.Name))
	}
	return out
}
