package agent_test

import (
	"testing"

	"github.com/vc-batch/vc/test/steptest"
)

func TestMain(m *testing.M) { steptest.Main(m) }
