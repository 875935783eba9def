#!/bin/sh
# Chromium for the tests of the page: taken as it is here, else from the system's packages where we may install them.
# Never fails: without a browser those tests are left out by name, and this says so.

for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done

if ! command -v apt-get >/dev/null 2>&1; then
    why="this system has no apt-get"
elif [ "$(id -u)" != 0 ]; then
    why="installing packages needs root"
else
    echo "Chromium is not here; getting it from the system's packages (apt-get install chromium) ..."
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    # Bounded: a machine without a network must not wait for ever.
    options="-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"
    # shellcheck disable=SC2086 - several words on purpose
    if apt-get $options update >/dev/null 2>&1 &&
        apt-get $options install -y --no-install-recommends chromium >/dev/null 2>&1; then
        echo "Chromium is installed."
        exit 0
    fi
    why="apt-get could not install it"
fi

echo "LEFT OUT: the tests of the page in a browser. Chromium is not here and $why." >&2
echo "          Install it (Debian, Ubuntu: apt-get install chromium) and run this again." >&2
exit 0
