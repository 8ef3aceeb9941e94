#!/usr/bin/env bash
# The steps of the action: a map, a pack, the check of a reply, and findings as SARIF. Each is asked for by a variable:
#
#   STAN_MAP=8k            print the overview within this budget, also into the summary of the job
#   STAN_PACK='…'          print a pack; the words are the arguments of `stan pack`
#   STAN_CHECK=reply.md    check a reply; the job fails when it is rejected
#   STAN_SARIF=folder      write missing-imports.sarif, cycles.sarif and, with STAN_CHECK, reply.sarif there
#   STAN_DIRECTORY=.       the repository
set -euo pipefail

directory=${STAN_DIRECTORY:-.}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}
sarif=${STAN_SARIF:-}
run() { stan -C "$directory" "$@"; }
# Paths that the caller gives are relative to where the job runs, and those of the program to the repository.
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s/%s' "$PWD" "$1" ;; esac; }

if [ -n "${STAN_MAP:-}" ]; then
  echo '::group::stan map'
  run map --budget "$STAN_MAP" | tee -a "$summary"
  echo '::endgroup::'
fi

if [ -n "${STAN_PACK:-}" ]; then
  # Words are split here and nothing else happens to them: no pattern is expanded, no command is run.
  read -r -a words <<<"$STAN_PACK"
  echo '::group::stan pack'
  run pack "${words[@]}" | tee -a "$summary"
  echo '::endgroup::'
fi

if [ -n "$sarif" ]; then
  mkdir -p "$sarif"
  run graph --format sarif >"$sarif/missing-imports.sarif"
  run cycles --format sarif >"$sarif/cycles.sarif"
fi

if [ -n "${STAN_CHECK:-}" ]; then
  reply=$(absolute "$STAN_CHECK")
  if [ -n "$sarif" ]; then
    # Exit code 1 is a rejected reply, which the next command says in words.
    run check "$reply" --format sarif >"$sarif/reply.sarif" || [ $? = 1 ]
  fi
  run check "$reply"
fi
