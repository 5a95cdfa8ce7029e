package proto

import "google.golang.org/grpc"

type (
	ValueType          int
	Spec_Content_Input struct{ Type ValueType }
	Spec_Content       struct {
		Inputs map[string]*Spec_Content_Input
	}
	Spec struct{ Spec *Spec_Content }
)

const ValueType_string ValueType = 1

func RegisterStepRunnerServer(grpc.ServiceRegistrar, any) {}
