package api

import "net"

func DefaultSocketPath() string            { return "" }
func SocketAddr(path string) *net.UnixAddr { return &net.UnixAddr{Name: path, Net: "unix"} }
