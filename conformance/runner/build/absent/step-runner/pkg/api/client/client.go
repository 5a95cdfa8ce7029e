package client

import "time"

type (
	State     string
	ErrorKind string
	Variable  struct {
		Key, Value   string
		File, Masked bool
	}
	RunRequest struct {
		Id, WorkDir, BuildDir, Steps string
		Timeout                      *time.Duration
		Env                          map[string]string
		Variables                    []Variable
	}
	Status struct {
		State     State
		Message   string
		ErrorKind ErrorKind
	}
)

func (s State) String() string { return string(s) }

const (
	StateSuccess   State = "success"
	StateCancelled State = "cancelled"

	ErrorCancelled   ErrorKind = "cancelled"
	ErrorInternal    ErrorKind = "internal"
	ErrorStepFailure ErrorKind = "step_failure"
	ErrorTimeout     ErrorKind = "timeout"
	ErrorUnknown     ErrorKind = "unknown"
)
