package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const contextName = "vc-local"

// writeKubeconfig writes a kubeconfig for the given user.
func writeKubeconfig(p *PKI, path, server, user string, groups ...string) error {
	ca, err := os.ReadFile(p.CACert())
	if err != nil {
		return err
	}
	certPEM, keyPEM, err := p.NewClientCert(user, groups...)
	if err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: certPEM, ClientKeyData: keyPEM}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: user, Namespace: "default"}
	config.CurrentContext = contextName
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	// Rename the file, so that a reader never sees an incomplete one.
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// configFor returns a client configuration for the given user, without client-side rate limits.
func configFor(p *PKI, server, user string, groups ...string) (*rest.Config, error) {
	ca, err := os.ReadFile(p.CACert())
	if err != nil {
		return nil, err
	}
	certPEM, keyPEM, err := p.NewClientCert(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            server,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: certPEM, KeyData: keyPEM},
		QPS:             -1,
	}, nil
}
