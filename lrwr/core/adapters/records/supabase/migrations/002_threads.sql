-- Conversations. They are the writer's: nothing else can make them again.
--
-- What is read comes as one JSON value, never as rows: Supabase cuts rows off after a
-- number that the project sets, and says nothing.

-- English word stems without a list of words to leave out: "who" is a word to look for.
do $words$
begin
  if not exists (
    select from pg_catalog.pg_ts_dict
    where dictname = 'lrwr_stem' and dictnamespace = 'public'::regnamespace
  ) then
    create text search dictionary public.lrwr_stem (
      template = pg_catalog.snowball, language = english
    );
  end if;
  if not exists (
    select from pg_catalog.pg_ts_config
    where cfgname = 'lrwr_english' and cfgnamespace = 'public'::regnamespace
  ) then
    create text search configuration public.lrwr_english (copy = pg_catalog.simple);
    alter text search configuration public.lrwr_english
      alter mapping for asciiword, asciihword, hword_asciipart, word, hword, hword_part
      with public.lrwr_stem;
  end if;
end
$words$;

-- Letters without their accents, as they are compared.
create or replace function public.lrwr_plain(p_text text) returns text
language sql immutable security invoker set search_path = '' as $$
  select regexp_replace(normalize(p_text, NFD), U&'[\0300-\036F]', '', 'g')
$$;

-- The words of a text; of a very long one the first part, since an index takes no more.
create or replace function public.lrwr_words(p_text text) returns tsvector
language sql immutable security invoker set search_path = '' as $$
  select to_tsvector('public.lrwr_english', public.lrwr_plain(left(p_text, 200000)))
$$;

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
  -- The order in which turns were kept, whatever the clock said.
  kept bigint generated always as identity,
  asked_at double precision not null,
  state text not null check (state in ('complete', 'stopped')),
  price double precision,
  usage jsonb not null,
  question text not null,
  answer text not null,
  -- The rest of the answer: what it cites, leaves open and remarks.
  output jsonb not null,
  words tsvector generated always as (
    public.lrwr_words(question) || public.lrwr_words(answer)
  ) stored,
  primary key (library, id),
  unique (library, thread, number),
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade,
  foreign key (library, thread)
    references public.lrwr_thread (library, id) on delete cascade
);

create index if not exists lrwr_turn_words on public.lrwr_turn using gin (words);

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

-- A conversation as lrwr reads it.
create or replace function public.lrwr_thread_json(p_thread public.lrwr_thread)
returns jsonb language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'id', p_thread.id, 'title', p_thread.title, 'created_at', p_thread.created_at,
    'updated_at', p_thread.updated_at, 'state', p_thread.state,
    'turns', (
      select count(*) from public.lrwr_turn
      where library = p_thread.library and thread = p_thread.id
    )
  )
$$;

-- A turn as lrwr reads it.
create or replace function public.lrwr_turn_json(p_turn public.lrwr_turn)
returns jsonb language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'id', p_turn.id, 'number', p_turn.number, 'asked_at', p_turn.asked_at,
    'state', p_turn.state, 'price', p_turn.price, 'usage', p_turn.usage,
    'question', p_turn.question, 'answer', p_turn.answer, 'output', p_turn.output
  )
$$;

-- The conversations, the one that was spoken in last first.
create or replace function public.lrwr_threads(p_library uuid) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select coalesce(
    jsonb_agg(
      public.lrwr_thread_json(one) order by updated_at desc, created_at desc, id
    ),
    '[]'
  )
  from public.lrwr_thread one where library = p_library and deleted_at is null
$$;

-- One conversation; null where there is none, or it is deleted.
create or replace function public.lrwr_thread_called(p_library uuid, p_thread text)
returns jsonb language sql stable security invoker set search_path = '' as $$
  select public.lrwr_thread_json(one) from public.lrwr_thread one
  where library = p_library and id = p_thread and deleted_at is null
$$;

-- The turns of a conversation in order, or the last so many; null means all.
create or replace function public.lrwr_turns(
  p_library uuid, p_thread text, p_last integer default null
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(jsonb_agg(told order by number), '[]') from (
    select turn.number, public.lrwr_turn_json(turn) as told
    from public.lrwr_turn turn join public.lrwr_thread thread
      on thread.library = turn.library and thread.id = turn.thread
    where turn.library = p_library and turn.thread = p_thread
      and thread.deleted_at is null
    order by turn.number desc limit p_last
  ) last
$$;

-- Keeps a turn and the state after it, both told as JSON; returns the conversation. Who
-- keeps a turn holds its conversation till the end, so that the next number is nobody
-- else's.
create or replace function public.lrwr_keep_turn(
  p_library uuid, p_thread text, p_title text, p_state text, p_turn text
) returns jsonb
language plpgsql volatile security invoker set search_path = '' as $$
declare
  told jsonb := p_turn;
  at double precision := (told ->> 'asked_at')::double precision;
begin
  insert into public.lrwr_thread as kept (
    library, id, title, created_at, updated_at, state
  )
  values (p_library, p_thread, p_title, at, at, p_state::jsonb)
  on conflict (library, id) do update set
    updated_at = greatest(kept.updated_at, excluded.updated_at),
    state = excluded.state, deleted_at = null, deletion = null;
  insert into public.lrwr_turn (
    library, id, thread, number, asked_at, state, price, usage, question, answer, output
  )
  select p_library, told ->> 'id', p_thread, coalesce(max(number), 0) + 1, at,
    told ->> 'state', (told ->> 'price')::double precision, told -> 'usage',
    told ->> 'question', told ->> 'answer', told -> 'output'
  from public.lrwr_turn where library = p_library and thread = p_thread
  on conflict (library, id) do nothing;
  return public.lrwr_thread_called(p_library, p_thread);
end
$$;

-- Gives a conversation another title; false where there is none.
create or replace function public.lrwr_rename_thread(
  p_library uuid, p_thread text, p_title text
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
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
  perform from public.lrwr_library where id = p_library for update;
  update public.lrwr_thread set deleted_at = p_at, deletion = (
    select coalesce(max(deletion), 0) + 1 from public.lrwr_thread
    where library = p_library
  )
  where library = p_library and id = p_thread and deleted_at is null;
  return found;
end
$$;

-- Brings back what was deleted last; null where there is nothing.
create or replace function public.lrwr_restore_thread(p_library uuid) returns jsonb
language plpgsql volatile security invoker set search_path = '' as $$
declare
  back text;
begin
  perform from public.lrwr_library where id = p_library for update;
  update public.lrwr_thread set deleted_at = null, deletion = null
  where library = p_library and deletion = (
    select max(deletion) from public.lrwr_thread where library = p_library
  )
  returning id into back;
  return public.lrwr_thread_called(p_library, back);
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
  delete from public.lrwr_thread where library = p_library and deleted_at < p_before;
  get diagnostics gone = row_count;
  return gone;
end
$$;

-- What whole answers of kept conversations left open, oldest first.
create or replace function public.lrwr_gaps(p_library uuid) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'gaps', turn.output -> 'gap_flags',
        'as_of', turn.output -> 'narrative_state_delta' -> 'as_of'
      )
      order by turn.asked_at, turn.kept
    ),
    '[]'
  )
  from public.lrwr_turn turn join public.lrwr_thread thread
    on thread.library = turn.library and thread.id = turn.thread
  where turn.library = p_library and thread.deleted_at is null
    and turn.state = 'complete' and jsonb_array_length(turn.output -> 'gap_flags') > 0
$$;

-- What answers of kept conversations cite, of some documents or, with null, of all.
create or replace function public.lrwr_citing(
  p_library uuid, p_documents text[] default null
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'thread', turn.thread, 'turn', turn.id, 'citations', cited.found
      )
      order by turn.asked_at, turn.kept
    ),
    '[]'
  )
  from public.lrwr_turn turn join public.lrwr_thread thread
    on thread.library = turn.library and thread.id = turn.thread
  cross join lateral (
    select jsonb_agg(one) as found
    from jsonb_array_elements(turn.output -> 'citations') one
    where p_documents is null or one ->> 'document' = any (p_documents)
  ) cited
  where turn.library = p_library and thread.deleted_at is null
    and cited.found is not null
$$;

-- Turns whose question or answer holds any of the words, best first, with their
-- conversations. A word that the parser takes apart is a phrase.
create or replace function public.lrwr_search_turns(
  p_library uuid, p_words text[], p_limit integer
) returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
declare
  asked tsquery := '';
  word text;
begin
  foreach word in array p_words loop
    asked := asked || phraseto_tsquery(
      'public.lrwr_english', public.lrwr_plain(left(word, 500))
    );
  end loop;
  return (
    select coalesce(jsonb_agg(told order by rank desc, kept desc), '[]') from (
      select ts_rank(turn.words, asked) as rank, turn.kept, jsonb_build_object(
        'thread', public.lrwr_thread_json(spoken), 'turn', public.lrwr_turn_json(turn)
      ) as told
      from public.lrwr_turn turn join public.lrwr_thread spoken
        on spoken.library = turn.library and spoken.id = turn.thread
      where turn.library = p_library and spoken.deleted_at is null
        and turn.words @@ asked
      order by rank desc, turn.kept desc limit p_limit
    ) best
  );
end
$$;

-- Functions are for whoever is signed in, and do no more than they may.
do $grant$
declare
  one regprocedure;
begin
  for one in
    select oid from pg_catalog.pg_proc
    where pronamespace = 'public'::regnamespace and proname like 'lrwr\_%'
  loop
    execute format('revoke execute on function %s from public, anon', one);
    execute format('grant execute on function %s to authenticated', one);
  end loop;
end
$grant$;

insert into public.lrwr_migration (number) values (2) on conflict do nothing;
