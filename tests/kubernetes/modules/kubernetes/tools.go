//go:build tools

// Package tools holds the imports of the programs that are built here, so that
// go.mod and go.sum pin all that they need.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
