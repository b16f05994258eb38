-- The manuscript's files as they are: a private bucket, and in it a folder an account.
--
-- A file's name begins with the account's id: `<account>/<library>/<hash>`. Supabase
-- has row-level security on for `storage.objects`, and nobody but its own role may
-- change that table: only policies are added.

insert into storage.buckets (id, name, public) values ('lrwr', 'lrwr', false)
on conflict (id) do update set public = false;

drop policy if exists lrwr_file_select on storage.objects;
drop policy if exists lrwr_file_insert on storage.objects;
drop policy if exists lrwr_file_update on storage.objects;
drop policy if exists lrwr_file_delete on storage.objects;

create policy lrwr_file_select on storage.objects for select to authenticated
  using (
    bucket_id = 'lrwr'
    and (storage.foldername(name))[1] = (select auth.uid())::text
  );
create policy lrwr_file_insert on storage.objects for insert to authenticated
  with check (
    bucket_id = 'lrwr'
    and (storage.foldername(name))[1] = (select auth.uid())::text
  );
create policy lrwr_file_update on storage.objects for update to authenticated
  using (
    bucket_id = 'lrwr'
    and (storage.foldername(name))[1] = (select auth.uid())::text
  )
  with check (
    bucket_id = 'lrwr'
    and (storage.foldername(name))[1] = (select auth.uid())::text
  );
create policy lrwr_file_delete on storage.objects for delete to authenticated
  using (
    bucket_id = 'lrwr'
    and (storage.foldername(name))[1] = (select auth.uid())::text
  );

insert into public.lrwr_migration (number) values (4) on conflict do nothing;
