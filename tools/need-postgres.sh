#!/bin/sh
# Installs PostgreSQL 15 with apt-get if it is missing and this is root on Debian.
set -eu

test -x /usr/lib/postgresql/15/bin/postgres && exit 0
case "$(postgres --version 2>/dev/null || true)" in *" 15."*) exit 0 ;; esac

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
	echo "PostgreSQL 15 is required. Install it with your package manager." >&2
	exit 1
fi
echo "Installing PostgreSQL 15"
# Do not create or start a server: the tests start their own.
mkdir -p /etc/postgresql-common
test -e /etc/postgresql-common/createcluster.conf ||
	echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold \
	postgresql-15 >/dev/null
