-- Which library of a project this file is a working copy of; one row, or none.

create table hosted (
  id integer primary key check (id = 1),
  project text not null,
  account text not null,
  library text not null,
  name text not null,
  -- Names this copy, so that its own changes are told from those of others.
  writer text not null,
  -- Up to which version of the library everything is here.
  cursor integer not null,
  -- Whether something was read here since that the project does not know.
  apart integer not null default 0 check (apart in (0, 1)),
  -- How often the library was spoken in when all its conversations were here.
  spoken integer not null default 0
) strict;

-- What tells in which state of the project's each conversation is here.
create table hosted_thread (
  thread_id text primary key references thread (id) on delete cascade,
  digest text not null
) strict;

-- Turns that the project may not have yet.
create table unsent_turn (
  turn_id text primary key references turn (id) on delete cascade
) strict;

-- Conversations that were renamed, deleted or brought back here alone.
create table unsent_thread (
  thread_id text primary key references thread (id) on delete cascade
) strict;

create trigger turn_unsent after insert on turn
when exists (select 1 from hosted) begin
  insert into unsent_turn (turn_id) values (new.id);
end;

create trigger thread_unsent after update of title, deleted_at on thread
when (old.title <> new.title or old.deleted_at is not new.deleted_at)
  and exists (select 1 from hosted)
  and not exists (select 1 from unsent_thread where thread_id = new.id)
begin
  insert into unsent_thread (thread_id) values (new.id);
end;

create trigger processed_apart_insert after insert on processed begin
  update hosted set apart = 1 where apart = 0;
end;

create trigger processed_apart_update after update of content, recipe on processed begin
  update hosted set apart = 1 where apart = 0;
end;

create trigger processed_apart_delete after delete on processed begin
  update hosted set apart = 1 where apart = 0;
end;
