package launcher

// CurrentUser, EndingOfSession and LoginShell are for the tests that run whole pods.
var (
	CurrentUser     = currentUser
	EndingOfSession = endingOfSession
	LoginShell      = loginShell
)
