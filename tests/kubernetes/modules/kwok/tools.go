//go:build tools

// Package tools holds the imports of the programs that are built here, so that
// go.mod and go.sum pin all that they need.
package tools

import (
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
