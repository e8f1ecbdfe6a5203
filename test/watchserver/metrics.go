package watchserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Metrics returns a handler that serves the lists of the metrics API, and answers Prometheus queries about GPUs: every
// second GPU of a running pod is idle. All responses are made once.
func (c Cluster) Metrics() http.Handler {
	var nodes metricsv1beta1.NodeMetricsList
	for i := range c.Nodes {
		nodes.Items = append(nodes.Items, metricsv1beta1.NodeMetrics{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}, Usage: measuredUse("71234567890n", "412345678Ki")})
	}
	var pods metricsv1beta1.PodMetricsList
	var gpus []gpuSample
	for i := range c.Jobs * c.Pods {
		if !runs(i / c.Pods) {
			continue
		}
		pod := c.Pod(i)
		container := metricsv1beta1.ContainerMetrics{Name: "main", Usage: measuredUse("7123456789n", "41234567Ki")}
		pods.Items = append(pods.Items, metricsv1beta1.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, Containers: []metricsv1beta1.ContainerMetrics{container}})
		gpus = append(gpus, gpuSample{
			Metric: map[string]string{"Hostname": pod.Spec.NodeName, "UUID": fmt.Sprintf("GPU-%08d", i), "namespace": pod.Namespace, "pod": pod.Name},
			Value:  [2]any{c.Now.Unix(), fmt.Sprint(i % 2 * 90)},
		})
	}
	mux := http.NewServeMux()
	serve := func(path string, response any) {
		text, err := json.Marshal(response)
		if err != nil {
			panic(err)
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(text)
		})
	}
	path := "/apis/" + metricsv1beta1.SchemeGroupVersion.String()
	serve(path+"/nodes", nodes)
	serve(path+"/pods", pods)
	var answer prometheusAnswer
	answer.Status, answer.Data.ResultType, answer.Data.Result = "success", "vector", gpus
	serve(prometheusPath+"query", answer)
	return mux
}

const prometheusPath = "/api/v1/"

// IsMetricsRequest reports whether a request is one for the handler of Metrics.
func IsMetricsRequest(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/apis/"+metricsv1beta1.GroupName) || r.URL.Path == prometheusPath+"query"
}

// prometheusAnswer is an answer of Prometheus, with the fields in its order.
type prometheusAnswer struct {
	Status string `json:"status"`
	Data   struct {
		ResultType string      `json:"resultType"`
		Result     []gpuSample `json:"result"`
	} `json:"data"`
}

// gpuSample is one value of Prometheus.
type gpuSample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // a time in seconds, and the value as text
}

func measuredUse(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}
