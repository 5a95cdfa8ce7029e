// Package schema has the form of a step of the keyword `run`, which jobs of the suite do not use.
package schema

type (
	StepInputs map[string]any
	Step       struct {
		Name   *string    `json:"name,omitempty" yaml:"name,omitempty"`
		Step   any        `json:"step,omitempty" yaml:"step,omitempty"`
		Inputs StepInputs `json:"inputs,omitempty" yaml:"inputs,omitempty"`
		Run    []Step     `json:"run,omitempty" yaml:"run,omitempty"`
	}
)
