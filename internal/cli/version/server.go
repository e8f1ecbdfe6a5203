package version

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// oldest is the first supported Kubernetes version. The charts specify the same version as kubeVersion.
const oldest = "1.34.0"

// kinds lists the kinds that the command line reads and writes.
var kinds = []struct {
	version schema.GroupVersion
	kinds   []string
}{
	{batchv1alpha1.GroupVersion, []string{"Job", "CronJob"}},
	{schedulingv1beta1.GroupVersion, []string{"PodGroup", "Queue"}},
	{busv1alpha1.GroupVersion, []string{"Command"}},
	{flowv1alpha1.GroupVersion, []string{"JobFlow", "JobTemplate"}},
	{topologyv1alpha1.GroupVersion, []string{"HyperNode"}},
	{insightv1alpha1.GroupVersion, []string{"Plan"}},
}

// readServer reads the versions and APIs of the cluster into info. If there is an error, info keeps the data that was
// read before.
func (o *options) readServer(ctx context.Context, info *Info) error {
	config, err := o.f.RESTConfig()
	if err != nil {
		return err
	}
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	kubernetes, err := c.ServerVersion()
	if err != nil {
		return err
	}
	info.Server = &Server{Address: config.Host, Kubernetes: kubernetes.GitVersion, APIs: []string{}}
	if running, err := version.ParseGeneric(kubernetes.GitVersion); err == nil && running.LessThan(version.MustParseGeneric(oldest)) {
		info.Warnings = append(info.Warnings, fmt.Sprintf("the cluster runs Kubernetes %s, but vc supports %s and later versions", kubernetes.GitVersion, strings.TrimSuffix(oldest, ".0")))
	}
	if err := info.readAPIs(c); err != nil {
		return err
	}
	if err := info.checkFields(c); err != nil {
		return err
	}
	return o.readComponents(ctx, info)
}

// readAPIs records which of vc's kinds the cluster serves.
func (i *Info) readAPIs(c discovery.DiscoveryInterface) error {
	groups, err := c.ServerGroups()
	if err != nil {
		return err
	}
	for _, want := range kinds {
		name := want.version.String()
		missing := want.kinds
		if servesGroupVersion(groups, name) {
			i.Server.APIs = append(i.Server.APIs, name)
			resources, err := c.ServerResourcesForGroupVersion(name)
			if err != nil {
				return err
			}
			missing = slices.DeleteFunc(slices.Clone(want.kinds), func(kind string) bool {
				return slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind })
			})
		}
		for _, kind := range missing {
			i.Server.Missing = append(i.Server.Missing, kind+"."+name)
		}
	}
	switch missing := i.Server.Missing; {
	case len(i.Server.APIs) == 0:
		i.Warnings = append(i.Warnings, "the cluster does not serve any of vc's APIs; install vc with kubectl apply -f deploy/install.yaml")
	case len(missing) > 0:
		i.Warnings = append(i.Warnings, fmt.Sprintf("the cluster does not serve %s because the CRDs of Volcano or of an older version of vc are installed", strings.Join(missing, ", ")))
	}
	return nil
}

func servesGroupVersion(groups *metav1.APIGroupList, groupVersion string) bool {
	return slices.ContainsFunc(groups.Groups, func(group metav1.APIGroup) bool {
		return slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.GroupVersion == groupVersion })
	})
}

// ourField is a PodGroup field that is missing in Volcano's CRD and in old versions of vc's CRD.
const ourField = "explanation"

// checkFields records whether the cluster's PodGroups can store the explanations of vc's scheduler. It reads the
// server's schemas, which all users may read. If the server does not publish the schemas, checkFields records nothing.
func (i *Info) checkFields(c discovery.DiscoveryInterface) error {
	if !slices.Contains(i.Server.APIs, schedulingv1beta1.GroupVersion.String()) {
		return nil
	}
	paths, _ := c.OpenAPIV3().Paths()
	path := paths["apis/"+schedulingv1beta1.GroupVersion.String()]
	if path == nil {
		return nil
	}
	text, err := path.Schema("application/json")
	if err != nil {
		return err
	}
	type properties struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var document struct {
		Components struct {
			Schemas map[string]properties `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	for name, kind := range document.Components.Schemas {
		var status properties
		if !strings.HasSuffix(name, ".PodGroup") || json.Unmarshal(kind.Properties["status"], &status) != nil {
			continue
		}
		if _, there := status.Properties[ourField]; !there {
			i.Warnings = append(i.Warnings, "PodGroups in this cluster have no status."+ourField+" because Volcano's CRDs or outdated CRDs are installed; job explain shows less information")
		}
	}
	return nil
}

// readComponents records the versions of vc's components: the scheduler's version comes from its ConfigMap, the other
// versions come from the images of the Deployments. If the user may read neither, it records nothing.
func (o *options) readComponents(ctx context.Context, info *Info) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	var state corev1.ConfigMap
	err = c.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: keys.ConfigurationName}, &state)
	switch told := state.Data[keys.ConfigurationVersion]; {
	case err == nil && told != "":
		info.addComponent("scheduler", told, "configmap "+o.namespace+"/"+state.Name)
	case apierrors.IsNotFound(err) && len(info.Server.APIs) > 0:
		info.Warnings = append(info.Warnings, fmt.Sprintf("no vc scheduler has started in namespace %s, so no jobs will start; use --scheduler-namespace to check another namespace", o.namespace))
	}
	set, err := o.f.Clientset()
	if err != nil {
		return err
	}
	deployments, err := set.AppsV1().Deployments(o.namespace).List(ctx, metav1.ListOptions{Limit: cli.PageSize})
	if err == nil {
		for i := range deployments.Items {
			info.addDeployment(&deployments.Items[i])
		}
	}
	return nil
}

// addDeployment adds the component that a Deployment runs.
func (i *Info) addDeployment(d *appsv1.Deployment) {
	name := strings.TrimPrefix(d.Name, "volcano-")
	known := slices.ContainsFunc(i.Server.Components, func(c Component) bool { return c.Name == name })
	if known || name == d.Name || len(d.Spec.Template.Spec.Containers) == 0 {
		return
	}
	image := d.Spec.Template.Spec.Containers[0].Image
	i.addComponent(name, imageVersion(image), "image "+image)
}

// imageVersion returns the tag of an image. An image without a tag has its digest as version, or else "latest".
func imageVersion(image string) string {
	image, digest, _ := strings.Cut(image, "@")
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		return image[at+1:]
	}
	if digest != "" {
		return digest
	}
	return "latest"
}

// addComponent records a component and warns if its major or minor version differs from the client's.
func (i *Info) addComponent(name, told, source string) {
	i.Server.Components = append(i.Server.Components, Component{name, told, source})
	theirs, errTheirs := version.ParseSemantic(told)
	ours, errOurs := version.ParseSemantic(i.Client.Version)
	if errTheirs != nil || errOurs != nil {
		return
	}
	if theirs.Major() != ours.Major() || theirs.Minor() != ours.Minor() {
		i.Warnings = append(i.Warnings, fmt.Sprintf("%s %s and this client %s have different versions and might be incompatible", name, told, i.Client.Version))
	}
}
