package controlplane

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// WebhookClient is the common name in the certificate that the API server presents to webhooks. The certificate is
// signed by CACert.
const WebhookClient = "kube-apiserver-webhook-client"

const (
	admissionFile         = "admission.yaml"
	webhookKubeconfigFile = "webhook-client.kubeconfig"
)

// writeAdmission writes the configuration files that make the API server present its client certificate to all
// webhooks.
func writeAdmission(p *PKI) error {
	config := clientcmdapi.NewConfig()
	config.AuthInfos["*"] = &clientcmdapi.AuthInfo{ClientCertificate: p.pathOfFile("webhook-client.crt"), ClientKey: p.pathOfFile("webhook-client.key")}
	kubeconfig, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("kubeconfig of webhooks: %w", err)
	}
	plugin := func(name string) string {
		return fmt.Sprintf(`- name: %s
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: %q
`, name, p.pathOfFile(webhookKubeconfigFile))
	}
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n" +
		plugin("ValidatingAdmissionWebhook") + plugin("MutatingAdmissionWebhook")
	return errors.Join(
		os.WriteFile(p.pathOfFile(webhookKubeconfigFile), kubeconfig, 0o600),
		os.WriteFile(p.pathOfFile(admissionFile), []byte(text), 0o600),
	)
}
