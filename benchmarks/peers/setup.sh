#!/usr/bin/env bash
# Create, or complete, the environment in which the peer TextAttack is measured.
#   benchmarks/peers/setup.sh ENV_DIR
# A step whose result is there is skipped. pip and apt are the only network.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: setup.sh ENV_DIR   (the folder that gets the virtual environment)" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
env_dir=$(cd "$1" && pwd)
python=$env_dir/bin/python

[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$env_dir"

# A stamp rather than a trial import says that the packages are complete: an interrupted install
# can leave an importable half, and importing TextAttack takes ten seconds.
stamp=$env_dir/packages.sha256
if ! sha256sum --check --status "$stamp" 2>/dev/null; then
  install() { "$python" -m pip --disable-pip-version-check install --quiet --constraint "$here/constraints.txt" "$@"; }
  # torch alone and first: resolved together with the rest, a GPU build may be chosen.
  install torch==2.13.0
  install textattack==0.3.11 regex safetensors setuptools wheel
  # brittle only reads its own models here; its requirements stay out of the peer's way.
  install --no-deps --no-build-isolation --editable "$root"
  sha256sum "$here/constraints.txt" "$here/setup.sh" >"$stamp"
fi

if [ ! -f "$env_dir/debian/usr/share/wordnet/index.sense" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # apt fetches as an unprivileged user where there is one.
  chmod 777 "$work"
  (
    cd "$work"
    apt-get -qq download wordnet-base wordnet-sense-index 2>apt.log ||
      { apt-get -qq update && apt-get -qq download wordnet-base wordnet-sense-index; }
    # In this order, so that the file looked for above comes last.
    dpkg-deb -x wordnet-base_*.deb "$env_dir/debian"
    dpkg-deb -x wordnet-sense-index_*.deb "$env_dir/debian"
  )
fi

"$python" "$here/offline_data.py" "$env_dir/debian"
