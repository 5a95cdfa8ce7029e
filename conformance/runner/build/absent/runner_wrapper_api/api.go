// Package api stands for the remote control of the runner's process, which nothing here uses.
package api

import (
	"context"
	"errors"
)

type (
	Status              int
	ShutdownCallbackDef interface {
		URL() string
		Method() string
	}
	ShutdownCallback            interface{ Run(context.Context) }
	InitGracefulShutdownRequest interface{ ShutdownCallbackDef() ShutdownCallbackDef }
)

const (
	StatusUnknown Status = iota
	StatusRunning
	StatusInShutdown
	StatusStopped
)

var ErrProcessNotInitialized = errors.New("process not initialized")

func (Status) String() string                                       { return "" }
func NewShutdownCallback(any, ShutdownCallbackDef) ShutdownCallback { return nil }
