# The few things done often. `make check` is what every change must pass.

.PHONY: help build test check race fuzz bench pictures

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/'

build: ## build the binary into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/sessiondb ./cmd/sessiondb

test: ## run the tests
	go test ./...

race: ## run the tests with the race detector
	go test -race -short ./...

check: ## everything that continuous integration runs
	.ci/run

fuzz: ## run each fuzz target for a minute
	@go list ./... | while read -r p; do \
		go test -list '^Fuzz' "$$p" | grep '^Fuzz' | while read -r f; do \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime 60s "$$p" || exit 1; \
		done || exit 1; \
	done

bench: ## measure against raw SQLite and Python; rewrites docs/benchmarks.md
	cd bench && go run . -write

pictures: ## take pictures of the pages, in bin/pictures; docs/ has some (needs Chromium)
	mkdir -p bin/pictures
	go test ./internal/cli -count=1 -run TestBrowser -pictures $(CURDIR)/bin/pictures
	for p in conversation usage; do cp bin/pictures/$$p.png docs/serve-$$p.png; done
