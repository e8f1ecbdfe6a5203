package protocol

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// keyBytes is the length of a job's key.
const keyBytes = 32

// NewIdentity returns a TLS configuration derived from the job's key. All pods of a job derive the same key pair from
// the job's key. Both sides of a connection present a certificate for this key pair and accept no other key, so that
// only pods that have the job's key can connect to each other. The traffic is encrypted.
func NewIdentity(key string) (*tls.Config, error) {
	secret, err := hex.DecodeString(strings.TrimSpace(key))
	if err != nil || len(secret) != keyBytes {
		return nil, fmt.Errorf("the job's key is not a hexadecimal number of %d bytes", keyBytes)
	}
	seed := sha256.Sum256(append([]byte("vc-step identity\x00"), secret...))
	private := ed25519.NewKeyFromSeed(seed[:])
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	own := private.Public()
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
		ClientAuth:   tls.RequireAnyClientCert,
		// Names and issuers do not matter, because only the key identifies the peer, and TLS verifies that the peer has
		// the private key.
		InsecureSkipVerify: true,
		VerifyConnection:   func(state tls.ConnectionState) error { return checkPeerKey(own, state) },
	}, nil
}

func checkPeerKey(own crypto.PublicKey, state tls.ConnectionState) error {
	if len(state.PeerCertificates) > 0 {
		if public, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && public.Equal(own) {
			return nil
		}
	}
	return errors.New("the peer does not have this job's key")
}
