-- Libraries, and what every later script stands on. Times are seconds since 1970, UTC.
--
-- Every table has an owner, the account that wrote the row, and every policy asks for
-- that account alone. Row-level security is forced, so that not even the tables' own
-- role reads past it. Nobody who is not signed in is granted anything.

-- Which of these scripts were run. It tells nothing of anybody, and only a script
-- writes it.
create table if not exists public.lrwr_migration (
  number integer primary key,
  run_at timestamptz not null default now()
);

alter table public.lrwr_migration enable row level security;
alter table public.lrwr_migration force row level security;
revoke all on public.lrwr_migration from public, anon, authenticated;
grant select on public.lrwr_migration to authenticated;

drop policy if exists lrwr_migration_select on public.lrwr_migration;
create policy lrwr_migration_select on public.lrwr_migration
  for select to authenticated using (true);

create table if not exists public.lrwr_library (
  id uuid primary key default gen_random_uuid(),
  owner uuid not null default auth.uid() references auth.users (id) on delete cascade,
  name text not null,
  created_at timestamptz not null default now(),
  unique (owner, name),
  -- What a row of another table names: its library and its owner, never one of them.
  unique (id, owner)
);

-- One owner, one rule: the four verbs, each for the signed-in owner.
do $guard$
begin
  alter table public.lrwr_library enable row level security;
  alter table public.lrwr_library force row level security;
  revoke all on public.lrwr_library from public, anon, authenticated;
  grant select, insert, update, delete on public.lrwr_library to authenticated;
  drop policy if exists lrwr_library_select on public.lrwr_library;
  drop policy if exists lrwr_library_insert on public.lrwr_library;
  drop policy if exists lrwr_library_update on public.lrwr_library;
  drop policy if exists lrwr_library_delete on public.lrwr_library;
  create policy lrwr_library_select on public.lrwr_library
    for select to authenticated using (owner = (select auth.uid()));
  create policy lrwr_library_insert on public.lrwr_library
    for insert to authenticated with check (owner = (select auth.uid()));
  create policy lrwr_library_update on public.lrwr_library
    for update to authenticated
    using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
  create policy lrwr_library_delete on public.lrwr_library
    for delete to authenticated using (owner = (select auth.uid()));
end
$guard$;

-- The one clock: workers on several machines agree on when a lease ends.
create or replace function public.lrwr_now() returns double precision
language sql volatile security invoker set search_path = '' as $$
  select extract(epoch from clock_timestamp())::double precision
$$;

-- The numbers of the scripts that were run, as a JSON array.
create or replace function public.lrwr_migrations() returns jsonb
language sql stable security invoker set search_path = '' as $$
  select coalesce(jsonb_agg(number order by number), '[]') from public.lrwr_migration
$$;

revoke execute on function
  public.lrwr_now(), public.lrwr_migrations()
from public, anon;
grant execute on function
  public.lrwr_now(), public.lrwr_migrations()
to authenticated;

insert into public.lrwr_migration (number) values (1) on conflict do nothing;
