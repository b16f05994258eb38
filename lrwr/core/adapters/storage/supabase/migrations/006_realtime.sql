-- Lets Realtime tell a library's owner that its row has changed, which counts versions.
--
-- It says no more than that it is time to look, and nothing waits for it: a project
-- without Realtime has no such publication, and nothing is done there.

do $realtime$
begin
  if exists (
    select from pg_catalog.pg_publication where pubname = 'supabase_realtime'
  ) and not exists (
    select from pg_catalog.pg_publication_tables
    where pubname = 'supabase_realtime' and schemaname = 'public'
      and tablename = 'lrwr_library'
  ) then
    alter publication supabase_realtime add table public.lrwr_library;
  end if;
end
$realtime$;

insert into public.lrwr_migration (number) values (6) on conflict do nothing;
