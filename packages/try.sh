#!/usr/bin/env bash
# Installs what packages/dist.py made, each way into a fresh folder, and runs `stan map` there: `packages/try.sh DIST`. No
# network. Fails when a way takes 10 s or more, from the install to the end of the first map.
set -euo pipefail

dist=$(cd "${1:?usage: packages/try.sh DIST}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
limit=10

repository() {
  mkdir -p "$1/src"
  printf "import { b } from './b';\nexport const a = b;\n" >"$1/src/a.ts"
  printf 'export const b = 1;\n' >"$1/src/b.ts"
}

# timed NAME COMMAND...: runs it in a fresh repository; the last line of its output must name a file of the map.
timed() {
  local name=$1 start took
  shift
  repository "$scratch/$name/repository"
  start=$(date +%s%N)
  (cd "$scratch/$name/repository" && "$@") >"$scratch/$name/out" 2>&1 || { cat "$scratch/$name/out"; echo "$name: failed" >&2; exit 1; }
  took=$((($(date +%s%N) - start) / 1000000))
  grep -q 'a.ts' "$scratch/$name/out" || { cat "$scratch/$name/out"; echo "$name: no map" >&2; exit 1; }
  printf '%-8s %6d ms\n' "$name" "$took"
  [ "$took" -lt $((limit * 1000)) ] || { echo "$name: took longer than $limit s" >&2; exit 1; }
}

by_npm() {
  npm install --silent --offline --no-audit --no-fund --no-package-lock --prefix "$scratch/npm" \
    "$dist"/stan-cli-*.tgz "$dist"/stan-[0-9]*.tgz
  npm exec --offline --prefix "$scratch/npm" -- stan map
}
by_pip() {
  "$scratch/pip/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$dist"/stan_context-*.whl
  "$scratch/pip/venv/bin/stan" map
}
by_script() {
  sh "$here/install/install.sh" --from "$dist" --to "$scratch/script/bin"
  "$scratch/script/bin/stan" map
}
by_powershell() {
  pwsh -NoProfile -File "$here/install/install.ps1" -From "$dist" -To "$scratch/pwsh/bin"
  "$scratch/pwsh/bin/stan" map
}
by_library() {
  npm install --silent --offline --no-audit --no-fund --no-package-lock --prefix "$scratch/library" \
    "$dist"/stan-context-*.tgz
  cp "$here/install/try.mjs" "$scratch/library/try.mjs"
  node "$scratch/library/try.mjs"
}

timed script by_script
# A changed archive is refused, and nothing is installed.
cp -R "$dist" "$scratch/changed"
for archive in "$scratch"/changed/stan-*.tar.gz; do printf 'x' >>"$archive"; done
if sh "$here/install/install.sh" --from "$scratch/changed" --to "$scratch/none" 2>/dev/null; then
  echo 'script: installed an archive with a wrong checksum' >&2
  exit 1
fi
[ ! -e "$scratch/none/stan" ]
if command -v npm >/dev/null; then timed npm by_npm; else echo 'skipped: npm is not here'; fi
# The environment is the user's and is not part of the install.
if python3 -m venv "$scratch/pip/venv" 2>/dev/null; then timed pip by_pip; else echo 'skipped: venv is not here'; fi
if command -v pwsh >/dev/null; then timed pwsh by_powershell; else echo 'skipped: pwsh is not here'; fi
if command -v npm >/dev/null && ls "$dist"/stan-context-[0-9]*.tgz >/dev/null 2>&1; then timed library by_library; fi
