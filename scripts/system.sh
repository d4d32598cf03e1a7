#!/bin/sh
# Install the programs and word lists of the system that some tests look for, where this may be done:
# as root, with apt-get. Elsewhere one line says what will not be tested. It never fails: a test whose
# program is missing is skipped.
set -u

is_there() {
    case $1 in
        chromium) command -v chromium || command -v chromium-browser ;;
        chromium-driver) command -v chromedriver ;;
        apertium-eng-spa) ls /usr/share/apertium/modes/eng-spa.mode ;;
        wordnet-base) ls /usr/share/wordnet/data.noun ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

list_missing() {
    for package in chromium chromium-driver apertium apertium-eng-spa wordnet-base zsh fish; do
        is_there "$package" || printf ' %s' "$package"
    done
}

install() {
    options='-qq -o DPkg::Lock::Timeout=60 -o Acquire::Retries=1 -o Acquire::http::Timeout=20'
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # both are lists of words
    apt-get $options update && apt-get $options install -y --no-install-recommends $1
}

missing=$(list_missing)
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "make system: apt-get install$missing"
    install "$missing" </dev/null >/dev/null || true
    missing=$(list_missing)
fi
[ -z "$missing" ] || echo "make system: not installed, so tests that need them are skipped:$missing"
