#!/bin/sh
# Makes sure that PostgreSQL 15 is here: installs Debian's where root may.
set -eu

test -x /usr/lib/postgresql/15/bin/postgres && exit 0
case "$(postgres --version 2>/dev/null || true)" in *" 15."*) exit 0 ;; esac

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
	echo "PostgreSQL 15 is needed: install your system's package of it" >&2
	exit 1
fi
echo "Installing PostgreSQL 15"
# No server is to be made or started: the tests run their own.
mkdir -p /etc/postgresql-common
test -e /etc/postgresql-common/createcluster.conf ||
	echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold \
	postgresql-15 >/dev/null
