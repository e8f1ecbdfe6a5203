package clitest

// PermitImpersonation determines whether the client may submit jobs for other users. By default it may, like an
// administrator. All other permissions that the client asks for are denied.
func (s *Server) PermitImpersonation(permitted bool) {
	s.OnCreate("SelfSubjectAccessReview", func(review map[string]any) {
		spec, _ := review["spec"].(map[string]any)
		attributes, _ := spec["resourceAttributes"].(map[string]any)
		review["status"] = map[string]any{"allowed": permitted && attributes["verb"] == "impersonate"}
	})
}

// KnowUserAs sets the name by which the server knows the client.
func (s *Server) KnowUserAs(name string) {
	s.OnCreate("SelfSubjectReview", func(review map[string]any) {
		review["status"] = map[string]any{"userInfo": map[string]any{"username": name}}
	})
}
