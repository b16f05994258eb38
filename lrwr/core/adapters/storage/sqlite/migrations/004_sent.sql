-- What left this machine, each row written before its request leaves. Nothing of what
-- was sent or answered stands here, and no key.

create table sent (
  n integer primary key,
  at real not null,
  service text not null,
  host text not null,
  purpose text not null,
  model text not null,
  sent_bytes integer not null check (sent_bytes >= 0),
  received_bytes integer,
  prompt_tokens integer,
  completion_tokens integer,
  price real,
  outcome text not null
) strict;

create index sent_at on sent (at);

-- When the log began, or was cleared: what left before is not in it.
create table sent_since (at real not null) strict;

insert into sent_since (at) values ((julianday('now') - 2440587.5) * 86400.0);
