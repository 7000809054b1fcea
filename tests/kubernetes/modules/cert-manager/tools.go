//go:build tools

// Package tools holds an import of the module whose data is read here, so that
// go.mod and go.sum pin it.
package tools

import (
	_ "github.com/cert-manager/cert-manager/pkg/apis/certmanager"
)
