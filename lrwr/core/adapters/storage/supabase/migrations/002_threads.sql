-- Conversations. They are the writer's: nothing else can make them again.
--
-- Each change of one counts up how often the library was spoken in, under a lock of its
-- row. Whoever has read all conversations at one such number has missed none before it.
--
-- What is read comes as one JSON value, never as rows: Supabase cuts rows off after a
-- number that the project sets, and says nothing.

alter table public.lrwr_library
  add column if not exists spoken bigint not null default 0;

create table if not exists public.lrwr_thread (
  library uuid not null,
  owner uuid not null default auth.uid(),
  id text not null,
  title text not null,
  created_at double precision not null,
  updated_at double precision not null,
  deleted_at double precision,
  -- Counts deletions, so that what was deleted last comes back first.
  deletion bigint,
  state jsonb not null,
  primary key (library, id),
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade,
  check ((deleted_at is null) = (deletion is null))
);

create table if not exists public.lrwr_turn (
  library uuid not null,
  owner uuid not null default auth.uid(),
  id text not null,
  thread text not null,
  number integer not null check (number > 0),
  asked_at double precision not null,
  state text not null check (state in ('complete', 'stopped')),
  price double precision,
  usage jsonb not null,
  question text not null,
  answer text not null,
  -- The rest of the answer: what it cites, leaves open and remarks.
  output jsonb not null,
  primary key (library, id),
  unique (library, thread, number),
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade,
  foreign key (library, thread)
    references public.lrwr_thread (library, id) on delete cascade
);

do $guard$
declare
  one text;
begin
  foreach one in array array['lrwr_thread', 'lrwr_turn'] loop
    execute format('alter table public.%I enable row level security', one);
    execute format('alter table public.%I force row level security', one);
    execute format('revoke all on public.%I from public, anon, authenticated', one);
    execute format(
      'grant select, insert, update, delete on public.%I to authenticated', one
    );
    execute format('drop policy if exists %I on public.%I', one || '_select', one);
    execute format('drop policy if exists %I on public.%I', one || '_insert', one);
    execute format('drop policy if exists %I on public.%I', one || '_update', one);
    execute format('drop policy if exists %I on public.%I', one || '_delete', one);
    execute format(
      'create policy %I on public.%I for select to authenticated'
      ' using (owner = (select auth.uid()))', one || '_select', one
    );
    execute format(
      'create policy %I on public.%I for insert to authenticated'
      ' with check (owner = (select auth.uid()))', one || '_insert', one
    );
    execute format(
      'create policy %I on public.%I for update to authenticated'
      ' using (owner = (select auth.uid())) with check (owner = (select auth.uid()))',
      one || '_update', one
    );
    execute format(
      'create policy %I on public.%I for delete to authenticated'
      ' using (owner = (select auth.uid()))', one || '_delete', one
    );
  end loop;
end
$guard$;

-- Counts up how often a library was spoken in and returns it; the number is the caller's
-- alone until the transaction ends. Null where the caller has no such library.
create or replace function public.lrwr_speak(p_library uuid) returns bigint
language sql volatile security invoker set search_path = '' as $$
  update public.lrwr_library set spoken = spoken + 1 where id = p_library
  returning spoken
$$;

-- What changes whenever anything in a conversation does.
create or replace function public.lrwr_thread_digest(p_thread public.lrwr_thread)
returns text language sql stable security invoker set search_path = '' as $$
  select md5(
    jsonb_build_array(
      p_thread.title, p_thread.state, p_thread.updated_at, p_thread.deleted_at, (
        select coalesce(jsonb_agg(jsonb_build_array(number, id) order by number), '[]')
        from public.lrwr_turn
        where library = p_thread.library and thread = p_thread.id
      )
    )::text
  )
$$;

-- Keeps a turn and the state after it, both told as JSON: `{"spoken": how often the
-- library was spoken in since, "digest": the conversation's}`. Here and wherever both
-- are locked, the library comes first; nobody else has the next number meanwhile.
--
-- A deleted conversation is back. With `p_late` what was asked is told later than it was
-- asked: then it is not, if it was deleted after that, and the state after a newer turn
-- stays.
create or replace function public.lrwr_keep_turn(
  p_library uuid, p_thread text, p_title text, p_state text, p_turn text,
  p_late boolean default false
) returns jsonb
language plpgsql volatile security invoker set search_path = '' as $$
declare
  told jsonb := p_turn;
  asked double precision := (told ->> 'asked_at')::double precision;
  stood bigint := public.lrwr_speak(p_library);
begin
  insert into public.lrwr_thread as kept (
    library, id, title, created_at, updated_at, state
  )
  values (p_library, p_thread, p_title, asked, asked, p_state::jsonb)
  on conflict (library, id) do update set
    updated_at = greatest(kept.updated_at, excluded.updated_at),
    state = case
      when p_late and asked < kept.updated_at then kept.state else excluded.state
    end,
    deleted_at = case when p_late and kept.deleted_at >= asked then kept.deleted_at end,
    deletion = case when p_late and kept.deleted_at >= asked then kept.deletion end;
  insert into public.lrwr_turn (
    library, id, thread, number, asked_at, state, price, usage, question, answer, output
  )
  select p_library, told ->> 'id', p_thread, coalesce(max(number), 0) + 1, asked,
    told ->> 'state', (told ->> 'price')::double precision, told -> 'usage',
    told ->> 'question', told ->> 'answer', told -> 'output'
  from public.lrwr_turn where library = p_library and thread = p_thread
  on conflict (library, id) do nothing;
  return (
    select jsonb_build_object(
      'spoken', stood, 'digest', public.lrwr_thread_digest(thread)
    )
    from public.lrwr_thread thread where library = p_library and id = p_thread
  );
end
$$;

-- Gives a conversation another title; false where there is none.
create or replace function public.lrwr_rename_thread(
  p_library uuid, p_thread text, p_title text
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  perform public.lrwr_speak(p_library);
  update public.lrwr_thread set title = p_title
  where library = p_library and id = p_thread and deleted_at is null;
  return found;
end
$$;

-- Puts a conversation away; false where there is none.
create or replace function public.lrwr_delete_thread(
  p_library uuid, p_thread text, p_at double precision
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  -- One deletion at a time, so that each has a number of its own.
  perform public.lrwr_speak(p_library);
  update public.lrwr_thread set deleted_at = p_at, deletion = (
    select coalesce(max(deletion), 0) + 1 from public.lrwr_thread
    where library = p_library
  )
  where library = p_library and id = p_thread and deleted_at is null;
  return found;
end
$$;

-- Brings back what was deleted last; returns its id, null where there is nothing.
create or replace function public.lrwr_restore_thread(p_library uuid) returns jsonb
language plpgsql volatile security invoker set search_path = '' as $$
declare
  back text;
begin
  perform public.lrwr_speak(p_library);
  update public.lrwr_thread set deleted_at = null, deletion = null
  where library = p_library and deletion = (
    select max(deletion) from public.lrwr_thread where library = p_library
  )
  returning id into back;
  return to_jsonb(back);
end
$$;

-- Forgets for good what was deleted before a time; returns how many conversations.
create or replace function public.lrwr_purge_threads(
  p_library uuid, p_before double precision
) returns integer
language plpgsql volatile security invoker set search_path = '' as $$
declare
  gone integer;
begin
  perform public.lrwr_speak(p_library);
  delete from public.lrwr_thread where library = p_library and deleted_at < p_before;
  get diagnostics gone = row_count;
  return gone;
end
$$;

-- Functions are for whoever is signed in, and do no more than they may. They are named
-- one by one: a project may have functions of its own whose names begin alike.
revoke execute on function
  public.lrwr_speak(uuid),
  public.lrwr_thread_digest(public.lrwr_thread),
  public.lrwr_keep_turn(uuid, text, text, text, text, boolean),
  public.lrwr_rename_thread(uuid, text, text),
  public.lrwr_delete_thread(uuid, text, double precision),
  public.lrwr_restore_thread(uuid),
  public.lrwr_purge_threads(uuid, double precision)
from public, anon;
grant execute on function
  public.lrwr_speak(uuid),
  public.lrwr_thread_digest(public.lrwr_thread),
  public.lrwr_keep_turn(uuid, text, text, text, text, boolean),
  public.lrwr_rename_thread(uuid, text, text),
  public.lrwr_delete_thread(uuid, text, double precision),
  public.lrwr_restore_thread(uuid),
  public.lrwr_purge_threads(uuid, double precision)
to authenticated;

insert into public.lrwr_migration (number) values (2) on conflict do nothing;
