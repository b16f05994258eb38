-- Conversations. They are the writer's: nothing else can make them again.

create table thread (
  id text primary key,
  title text not null,
  created_at real not null,
  updated_at real not null,
  deleted_at real,
  -- Counts deletions, so that what was deleted last comes back first.
  deletion integer,
  state text not null check (json_valid(state)),
  check ((deleted_at is null) = (deletion is null))
) strict;

create table turn (
  n integer primary key,
  id text not null unique,
  thread_id text not null references thread (id) on delete cascade,
  number integer not null check (number > 0),
  asked_at real not null,
  state text not null check (state in ('complete', 'stopped')),
  price real,
  usage text not null check (json_valid(usage)),
  question text not null,
  answer text not null,
  -- The rest of the answer: what it cites, leaves open and remarks.
  output text not null check (json_valid(output)),
  unique (thread_id, number)
) strict;

create virtual table turn_fts using fts5(
  question, answer, content = 'turn', content_rowid = 'n',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

create trigger turn_fts_insert after insert on turn begin
  insert into turn_fts (rowid, question, answer)
  values (new.n, new.question, new.answer);
end;

create trigger turn_fts_delete after delete on turn begin
  insert into turn_fts (turn_fts, rowid, question, answer)
  values ('delete', old.n, old.question, old.answer);
end;

create trigger turn_fts_update after update of question, answer on turn
when old.question <> new.question or old.answer <> new.answer
begin
  insert into turn_fts (turn_fts, rowid, question, answer)
  values ('delete', old.n, old.question, old.answer);
  insert into turn_fts (rowid, question, answer)
  values (new.n, new.question, new.answer);
end;
