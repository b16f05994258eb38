-- Narrows what the earlier scripts allow; lrwr works without it.

-- Realtime is not used any more. It sends deletions to every subscribed account, because
-- row-level security cannot be asked about a row that is gone: the ids of deleted
-- libraries were told to all. A publication of all tables is the project's own choice.
do $realtime$
begin
  if exists (
    select from pg_catalog.pg_publication_rel member
    join pg_catalog.pg_publication publication on publication.oid = member.prpubid
    where publication.pubname = 'supabase_realtime'
      and member.prrelid = 'public.lrwr_library'::regclass
  ) then
    alter publication supabase_realtime drop table public.lrwr_library;
  end if;
end
$realtime$;

-- A row belongs to a library of its owner. The foreign keys demand that, too, but they
-- are checked after the primary keys: who knew the id of somebody's library could tell
-- by the error whether a name exists in it. A policy is checked before both.
do $guard$
declare
  one text;
begin
  foreach one in array array[
    'lrwr_thread', 'lrwr_turn', 'lrwr_job', 'lrwr_record', 'lrwr_vector', 'lrwr_reply'
  ] loop
    execute format('drop policy if exists %I on public.%I', one || '_insert', one);
    execute format('drop policy if exists %I on public.%I', one || '_update', one);
    execute format(
      'create policy %I on public.%I for insert to authenticated with check ('
      ' owner = (select auth.uid()) and library in ('
      '   select id from public.lrwr_library where owner = (select auth.uid())))',
      one || '_insert', one
    );
    execute format(
      'create policy %I on public.%I for update to authenticated'
      ' using (owner = (select auth.uid())) with check ('
      ' owner = (select auth.uid()) and library in ('
      '   select id from public.lrwr_library where owner = (select auth.uid())))',
      one || '_update', one
    );
  end loop;
end
$guard$;

-- An identity column needs no right to its sequence.
revoke all on sequence public.lrwr_job_id_seq from public, anon, authenticated;

-- lrwr reads no file larger than 50 MB, and sends all as bytes. Storage of an older
-- Supabase has no limits for a bucket.
do $bucket$
begin
  if 2 = (
    select count(*) from pg_catalog.pg_attribute
    where attrelid = 'storage.buckets'::regclass and not attisdropped
      and attname in ('file_size_limit', 'allowed_mime_types')
  ) then
    update storage.buckets
    set file_size_limit = 52428800,
      allowed_mime_types = '{application/octet-stream}'
    where id = 'lrwr';
  end if;
end
$bucket$;

insert into public.lrwr_migration (number) values (7) on conflict do nothing;
