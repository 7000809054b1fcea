// cert-manager's kinds of objects, for what is asked of it; the program itself is not run.
module rapideye/tests/kubernetes/certmanager

go 1.26.0

require github.com/cert-manager/cert-manager v1.21.2
