#!/bin/sh
# Installs the programs `stan` and `x07` from a release: downloads the archive for this machine, compares its SHA-256 with the
# list of the release, and puts the programs into a folder.
#
#   sh install.sh [--from URL-OR-FOLDER] [--to FOLDER]
#
# --from: where the release is; a release's own copy of this script knows. --to: default ~/.local/bin.
set -eu

releases='@RELEASES@'
to=${HOME:-}/.local/bin

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --from) releases=${2:?--from needs a value}; shift 2 ;;
    --to) to=${2:?--to needs a value}; shift 2 ;;
    -h | --help) sed -n '2,7p' "$0" | cut -c3-; exit 0 ;;
    *) fail "unknown option $1" ;;
  esac
done
case $releases in
  @*) fail 'this copy of the script does not know a release; say where it is with --from' ;;
esac

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no program for $(uname -s); on Windows use WSL" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no program for $(uname -m)" ;;
esac
target=$system-$machine

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

# get NAME: a file of the release into the scratch folder.
get() {
  case $releases in
    http://* | https://*)
      if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$scratch/$1" "$releases/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document "$scratch/$1" "$releases/$1"
      else
        fail 'neither curl nor wget is here'
      fi ;;
    *) cp "$releases/$1" "$scratch/$1" ;;
  esac || fail "cannot get $1 from $releases"
}

archive=stan-$target.tar.gz
get "$archive"
get "SHA256SUMS-$target"

expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$scratch/SHA256SUMS-$target")
[ -n "$expected" ] || fail "the list of checksums does not name $archive"
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum "$scratch/$archive" | cut -d' ' -f1)
else
  found=$(shasum -a 256 "$scratch/$archive" | cut -d' ' -f1)
fi
[ "$found" = "$expected" ] || fail "the checksum of $archive is $found, and should be $expected; nothing was installed"

tar -xzf "$scratch/$archive" -C "$scratch"
mkdir -p "$to"
for program in stan x07; do
  # A new file in place of an old one, so that a program that runs now is not changed.
  cp "$scratch/stan-$target/$program" "$to/.$program.new"
  chmod 755 "$to/.$program.new"
  mv -f "$to/.$program.new" "$to/$program"
done
printf 'installed %s in %s\n' "$("$to/stan" --version)" "$to"
case :$PATH: in
  *:"$to":*) ;;
  *) printf '%s is not on your PATH; add it there\n' "$to" ;;
esac
