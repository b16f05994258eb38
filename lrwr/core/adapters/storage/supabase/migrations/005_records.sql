-- What is known of a library's documents: the truth that a file on each machine follows.
--
-- A record is written under a lock of its library's row, which counts versions up. So
-- versions are seen in their order, and whoever has read up to one has missed none
-- before it; with a sequence a number may be seen before a smaller one. The lock is the
-- one that rows of other tables do not wait for when they name the library.

alter table public.lrwr_library
  add column if not exists version bigint not null default 0,
  add column if not exists swept_at double precision not null default 0;

create table if not exists public.lrwr_record (
  library uuid not null,
  owner uuid not null default auth.uid(),
  kind text not null check (kind in ('document', 'woven', 'cast')),
  key text collate "C" not null,
  version bigint not null,
  -- Which copy wrote it, so that a copy knows its own.
  writer text not null,
  content text not null default '',
  digest text not null default '',
  -- Null: it is gone; the row stays, so that copies learn of it.
  body text,
  space text not null default '',
  texts text[] not null default '{}',
  primary key (library, kind, key),
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade
);

create unique index if not exists lrwr_record_by_version
  on public.lrwr_record (library, version);

create table if not exists public.lrwr_vector (
  library uuid not null,
  owner uuid not null default auth.uid(),
  space text not null,
  text_hash text collate "C" not null,
  vector bytea not null,
  touched double precision not null,
  primary key (library, space, text_hash),
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade
);

create table if not exists public.lrwr_reply (
  library uuid not null,
  owner uuid not null default auth.uid(),
  key text collate "C" not null,
  made double precision not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  finding text not null,
  primary key (library, key),
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade
);

do $guard$
declare
  one text;
begin
  foreach one in array array['lrwr_record', 'lrwr_vector', 'lrwr_reply'] loop
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

-- Makes a library; null where the caller has one of that name already.
create or replace function public.lrwr_new_library(p_name text) returns uuid
language plpgsql volatile security invoker set search_path = '' as $$
declare
  made uuid;
begin
  insert into public.lrwr_library (name) values (p_name)
  on conflict (owner, name) do nothing
  returning id into made;
  return made;
end
$$;

-- The caller's libraries. A document counts once, however many pipelines read it.
create or replace function public.lrwr_libraries() returns jsonb
language sql stable security invoker set search_path = '' as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'id', one.id, 'name', one.name, 'version', one.version,
        'created_at', extract(epoch from one.created_at)::double precision,
        'documents', (
          select count(distinct substr(key, strpos(key, '/') + 1))
          from public.lrwr_record
          where library = one.id and kind = 'document' and body is not null
        ),
        'threads', (
          select count(*) from public.lrwr_thread
          where library = one.id and deleted_at is null
        )
      )
      order by one.name, one.id
    ),
    '[]'
  )
  from public.lrwr_library one
$$;

-- Deletes a library and every row that belongs to it; false where there is none.
create or replace function public.lrwr_delete_library(p_library uuid) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  delete from public.lrwr_library where id = p_library;
  return found;
end
$$;

-- Where a library stands: `{"version": …, "others": whether a writer other than this one
-- changed anything after a version}`; null where the caller has no such library.
create or replace function public.lrwr_state(
  p_library uuid, p_writer text, p_after bigint
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'version', version,
    'others', exists (
      select from public.lrwr_record record
      where record.library = p_library and record.version > p_after
        and record.writer <> p_writer
    )
  )
  from public.lrwr_library where id = p_library
$$;

-- Counts a library's version up and returns it; the number is the caller's alone until
-- the transaction ends.
create or replace function public.lrwr_next_version(p_library uuid) returns bigint
language sql volatile security invoker set search_path = '' as $$
  update public.lrwr_library set version = version + 1 where id = p_library
  returning version
$$;

-- Whether a claim is held still; if so nobody takes it until the transaction ends.
create or replace function public.lrwr_hold_job(
  p_library uuid, p_job bigint, p_worker text, p_attempt integer
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  perform from public.lrwr_job
  where id = p_job and library = p_library and state = 'running'
    and worker = p_worker and attempts = p_attempt
  for update;
  return found;
end
$$;

-- Takes a record away, if it is there: its row says from then on that it is gone.
create or replace function public.lrwr_take_record(
  p_library uuid, p_writer text, p_kind text, p_key text
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  perform from public.lrwr_library where id = p_library for no key update;
  update public.lrwr_record set
    version = public.lrwr_next_version(p_library), writer = p_writer, content = '',
    digest = '', body = null, space = '', texts = '{}'
  where library = p_library and kind = p_kind and key = p_key and body is not null;
  return found;
end
$$;

-- Once a day forgets vectors that no record lists and nobody touched for a day; returns
-- how many.
create or replace function public.lrwr_sweep_vectors(p_library uuid) returns integer
language plpgsql volatile security invoker set search_path = '' as $$
declare
  day_ago double precision := public.lrwr_now() - 86400;
  gone integer := 0;
begin
  update public.lrwr_library set swept_at = day_ago + 86400
  where id = p_library and swept_at <= day_ago;
  if not found then
    return 0;
  end if;
  delete from public.lrwr_vector
  where (library, space, text_hash) in (
    select old.library, old.space, old.text_hash from public.lrwr_vector old
    where old.library = p_library and old.touched <= day_ago
      and not exists (
        select from public.lrwr_record record
        cross join lateral unnest(record.texts) as listed (hash)
        where record.library = p_library and record.space = old.space
          and listed.hash = old.text_hash
      )
    -- Whoever touches one now keeps it.
    for update of old skip locked
  );
  get diagnostics gone = row_count;
  return gone;
end
$$;

-- The hashes that have no vector in a space, in their order.
create or replace function public.lrwr_without_vector(
  p_library uuid, p_space text, p_texts text[]
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(jsonb_agg(hash order by hash collate "C"), '[]') from (
    select distinct hash from unnest(p_texts) as asked (hash)
    where not exists (
      select from public.lrwr_vector
      where library = p_library and space = p_space and text_hash = hash
    )
  ) lacking
$$;

-- Writes a record unless it is there as it is; whether it did.
create or replace function public.lrwr_keep_record(
  p_library uuid, p_writer text, p_kind text, p_key text, p_content text,
  p_digest text, p_body text, p_space text, p_texts text[]
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  perform from public.lrwr_library where id = p_library for no key update;
  perform from public.lrwr_record
  where library = p_library and kind = p_kind and key = p_key and body is not null
    and digest = p_digest and content = p_content and space = p_space
    and texts = p_texts;
  if found then
    return false;
  end if;
  insert into public.lrwr_record (
    library, kind, key, version, writer, content, digest, body, space, texts
  )
  values (
    p_library, p_kind, p_key, public.lrwr_next_version(p_library), p_writer, p_content,
    p_digest, p_body, p_space, p_texts
  )
  on conflict (library, kind, key) do update set
    version = excluded.version, writer = excluded.writer, content = excluded.content,
    digest = excluded.digest, body = excluded.body, space = excluded.space,
    texts = excluded.texts;
  return true;
end
$$;

-- It had one argument less.
drop function if exists public.lrwr_put_record(
  uuid, text, text, text, text, text, text, text, text[], bigint, text, integer, text
);

-- Writes a record and completes the job that made it, all or nothing:
-- `{"done": …, "lost": the claim is not held any more, "overtaken": somebody wrote before,
-- "before": the library's version, "version": the library's then, "missing": [hashes
-- without a vector]}`; null where the caller has no such library.
--
-- With `p_if_content` it is written only while the document of that key is made from
-- that content. With `p_if_digest` it takes the place of a record with that digest alone,
-- or, if that is empty, of none; unless it is there already. A record that is the same in
-- every part is not written again. Null in place of a body takes the record away. What
-- was woven of a document goes with it, and when it changes: it is to be woven anew.
create or replace function public.lrwr_put_record(
  p_library uuid, p_writer text, p_kind text, p_key text, p_content text,
  p_digest text, p_body text, p_space text, p_texts text[],
  p_job bigint default null, p_worker text default null,
  p_attempt integer default null, p_if_content text default null,
  p_if_digest text default null
) returns jsonb
language plpgsql volatile security invoker set search_path = '' as $$
declare
  began bigint;
  stood bigint;
  changed boolean;
  there text;
  lacking jsonb := '[]';
  told jsonb;
begin
  select version into began from public.lrwr_library where id = p_library
  for no key update;
  if not found then
    return null;
  end if;
  told := jsonb_build_object(
    'done', false, 'lost', false, 'overtaken', false, 'before', began,
    'version', began, 'missing', lacking
  );
  if p_job is not null
    and not public.lrwr_hold_job(p_library, p_job, p_worker, p_attempt)
  then
    return told || jsonb_build_object('lost', true);
  end if;
  -- One that is gone has an empty digest, as the one that takes it away.
  select digest into there from public.lrwr_record
  where library = p_library and kind = p_kind and key = p_key;
  if p_if_digest is not null and coalesce(there, '') not in (p_if_digest, p_digest) then
    return told || jsonb_build_object('overtaken', true);
  end if;
  if p_body is not null then
    lacking := public.lrwr_without_vector(p_library, p_space, p_texts);
  end if;
  if lacking <> '[]' or p_if_content is not null and not exists (
    select from public.lrwr_record
    where library = p_library and kind = 'document' and key = p_key
      and content = p_if_content and body is not null
  ) then
    return told || jsonb_build_object('missing', lacking);
  end if;
  if p_body is null then
    changed := public.lrwr_take_record(p_library, p_writer, p_kind, p_key);
  else
    changed := public.lrwr_keep_record(
      p_library, p_writer, p_kind, p_key, p_content, p_digest, p_body, p_space, p_texts
    );
  end if;
  if changed and p_kind = 'document' then
    perform public.lrwr_take_record(p_library, p_writer, 'woven', p_key);
  end if;
  if p_job is not null then
    perform public.lrwr_complete_job(p_job, p_worker, p_attempt);
  end if;
  perform public.lrwr_sweep_vectors(p_library);
  select version into stood from public.lrwr_library where id = p_library;
  return told || jsonb_build_object('done', true, 'version', stood);
end
$$;

-- What there is, without what it says: `{"version": …, "records": […]}`; null where the
-- caller has no such library.
create or replace function public.lrwr_manifest(p_library uuid) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object('version', version, 'records', (
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'kind', kind, 'key', key, 'content', content, 'digest', digest
        )
        order by kind collate "C", key
      ),
      '[]'
    )
    from public.lrwr_record where library = p_library and body is not null
  ))
  from public.lrwr_library where id = p_library
$$;

-- What changed after a version, in order: `{"version": the library's, "upto": up to
-- which these are all, "records": […], "spoken": how often it was spoken in}`; null where
-- the caller has no such library. One record at least, and then as many as have bodies of
-- `p_most` bytes together.
create or replace function public.lrwr_changes(
  p_library uuid, p_after bigint, p_most bigint
) returns jsonb language sql stable security invoker set search_path = '' as $$
  with change as (
    select record.*, row_number() over sofar as place,
      sum(octet_length(coalesce(body, ''))) over sofar as size
    from public.lrwr_record record
    where library = p_library and version > p_after
    window sofar as (order by version)
  ), page as (
    select coalesce(max(version), p_after) as last, coalesce(
      jsonb_agg(
        jsonb_build_object(
          'kind', kind, 'key', key, 'content', content, 'digest', digest,
          'body', body, 'space', space, 'texts', to_jsonb(texts), 'version', version
        )
        order by version
      ),
      '[]'
    ) as records
    from change where place = 1 or size <= p_most
  )
  select jsonb_build_object(
    'version', library.version, 'spoken', library.spoken, 'records', page.records,
    'upto', case
      when exists (
        select from public.lrwr_record
        where library = p_library and version > page.last
      ) then page.last
      else library.version
    end
  )
  from public.lrwr_library library cross join page where library.id = p_library
$$;

-- The hashes that have no vector in a space. The others keep theirs for a day.
create or replace function public.lrwr_missing_vectors(
  p_library uuid, p_space text, p_texts text[]
) returns jsonb language sql volatile security invoker set search_path = '' as $$
  update public.lrwr_vector kept set touched = public.lrwr_now()
  from (
    -- In one order, so that two who touch the same never wait for each other.
    select text_hash from public.lrwr_vector
    where library = p_library and space = p_space and text_hash = any (p_texts)
    order by text_hash for update
  ) asked
  where kept.library = p_library and kept.space = p_space
    and kept.text_hash = asked.text_hash;
  select public.lrwr_without_vector(p_library, p_space, p_texts)
$$;

-- Keeps vectors, `{hash: base64}`; returns how many.
create or replace function public.lrwr_put_vectors(
  p_library uuid, p_space text, p_vectors text
) returns integer
language plpgsql volatile security invoker set search_path = '' as $$
declare
  kept integer;
begin
  insert into public.lrwr_vector (library, space, text_hash, vector, touched)
  select p_library, p_space, key, decode(value, 'base64'), public.lrwr_now()
  from jsonb_each_text(p_vectors::jsonb) order by key collate "C"
  on conflict (library, space, text_hash) do update set
    vector = excluded.vector, touched = excluded.touched;
  get diagnostics kept = row_count;
  return kept;
end
$$;

-- Those of the vectors that there are: `{hash: base64}`.
create or replace function public.lrwr_vectors(
  p_library uuid, p_space text, p_texts text[]
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(
    jsonb_object_agg(text_hash, translate(encode(vector, 'base64'), E'\n', '')), '{}'
  )
  from public.lrwr_vector
  where library = p_library and space = p_space and text_hash = any (p_texts)
$$;

-- Keeps models' replies, told as a JSON array of rows; returns how many are new or newer
-- than what was there.
create or replace function public.lrwr_put_replies(p_library uuid, p_rows text)
returns integer
language plpgsql volatile security invoker set search_path = '' as $$
declare
  changed integer;
begin
  insert into public.lrwr_reply as kept (
    library, key, made, prompt_tokens, completion_tokens, finding
  )
  select distinct on (told.key collate "C") p_library, told.key, told.made,
    told.prompt_tokens, told.completion_tokens, told.finding
  from jsonb_to_recordset(p_rows::jsonb) as told (
    key text, made double precision, prompt_tokens integer, completion_tokens integer,
    finding text
  )
  order by told.key collate "C", told.made desc
  on conflict (library, key) do update set
    made = excluded.made, prompt_tokens = excluded.prompt_tokens,
    completion_tokens = excluded.completion_tokens, finding = excluded.finding
  where excluded.made > kept.made;
  get diagnostics changed = row_count;
  return changed;
end
$$;

-- A reply as lrwr reads it.
create or replace function public.lrwr_reply_json(p_reply public.lrwr_reply)
returns jsonb language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'key', p_reply.key, 'made', p_reply.made, 'prompt_tokens', p_reply.prompt_tokens,
    'completion_tokens', p_reply.completion_tokens, 'finding', p_reply.finding
  )
$$;

-- Those of the replies that there are, by key.
create or replace function public.lrwr_replies(p_library uuid, p_keys text[])
returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(jsonb_agg(public.lrwr_reply_json(one) order by key), '[]')
  from public.lrwr_reply one where library = p_library and key = any (p_keys)
$$;

-- The next so many replies by key.
create or replace function public.lrwr_replies_after(
  p_library uuid, p_after text, p_limit integer
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(jsonb_agg(told order by key), '[]') from (
    select key, public.lrwr_reply_json(one) as told from public.lrwr_reply one
    where library = p_library and key > p_after order by key limit p_limit
  ) next
$$;

-- What tells whether a conversation has changed, of deleted ones too.
create or replace function public.lrwr_thread_marks(p_library uuid) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object('id', id, 'digest', public.lrwr_thread_digest(thread))
      order by id collate "C"
    ),
    '[]'
  )
  from public.lrwr_thread thread where library = p_library
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

-- A conversation with all its turns, a deleted one too; null where there is none.
create or replace function public.lrwr_thread_whole(p_library uuid, p_thread text)
returns jsonb language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'id', id, 'title', title, 'created_at', created_at, 'updated_at', updated_at,
    'deleted_at', deleted_at, 'state', state,
    'digest', public.lrwr_thread_digest(thread), 'turns', (
      select coalesce(jsonb_agg(public.lrwr_turn_json(turn) order by number), '[]')
      from public.lrwr_turn turn where library = p_library and turn.thread = p_thread
    )
  )
  from public.lrwr_thread thread where library = p_library and id = p_thread
$$;

-- The number of a deletion among those of a library, by its time; later ones move on.
create or replace function public.lrwr_place_deletion(
  p_library uuid, p_thread text, p_at double precision
) returns bigint
language plpgsql volatile security invoker set search_path = '' as $$
declare
  place bigint;
begin
  select coalesce(max(deletion), 0) + 1 into place from public.lrwr_thread
  where library = p_library and deleted_at <= p_at and id <> p_thread;
  update public.lrwr_thread set deletion = deletion + 1
  where library = p_library and deletion >= place;
  return place;
end
$$;

-- Writes a conversation whole, as `lrwr_thread_whole` tells it. Turns are put together
-- by their ids; a new one whose number is another's gets the next free one. Of the rest
-- the version that was changed later stays, and this one if both were at the same time.
create or replace function public.lrwr_put_thread(p_library uuid, p_thread text)
returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
declare
  told jsonb := p_thread;
  called text := told ->> 'id';
  gone double precision := (told ->> 'deleted_at')::double precision;
  kept public.lrwr_thread;
  turn jsonb;
  place integer;
begin
  perform public.lrwr_speak(p_library);
  select * into kept from public.lrwr_thread
  where library = p_library and id = called for update;
  if kept.id is null or kept.updated_at <= (told ->> 'updated_at')::double precision
  then
    insert into public.lrwr_thread (
      library, id, title, created_at, updated_at, deleted_at, deletion, state
    )
    values (
      p_library, called, told ->> 'title', (told ->> 'created_at')::double precision,
      (told ->> 'updated_at')::double precision, gone,
      case
        when gone is null then null
        when gone = kept.deleted_at then kept.deletion
        else public.lrwr_place_deletion(p_library, called, gone)
      end,
      told -> 'state'
    )
    on conflict (library, id) do update set
      title = excluded.title, updated_at = excluded.updated_at,
      deleted_at = excluded.deleted_at, deletion = excluded.deletion,
      state = excluded.state;
  end if;
  for turn in
    select value from jsonb_array_elements(told -> 'turns')
    order by (value ->> 'number')::integer
  loop
    continue when exists (
      select from public.lrwr_turn where library = p_library and id = turn ->> 'id'
    );
    place := (turn ->> 'number')::integer;
    while exists (
      select from public.lrwr_turn
      where library = p_library and thread = called and number = place
    ) loop
      place := place + 1;
    end loop;
    insert into public.lrwr_turn (
      library, id, thread, number, asked_at, state, price, usage, question, answer,
      output
    )
    values (
      p_library, turn ->> 'id', called, place,
      (turn ->> 'asked_at')::double precision, turn ->> 'state',
      (turn ->> 'price')::double precision, turn -> 'usage', turn ->> 'question',
      turn ->> 'answer', turn -> 'output'
    );
  end loop;
  return true;
end
$$;

-- Functions are for whoever is signed in, and do no more than they may. They are named
-- one by one: a project may have functions of its own whose names begin alike.
revoke execute on function
  public.lrwr_new_library(text),
  public.lrwr_libraries(),
  public.lrwr_delete_library(uuid),
  public.lrwr_state(uuid, text, bigint),
  public.lrwr_next_version(uuid),
  public.lrwr_hold_job(uuid, bigint, text, integer),
  public.lrwr_take_record(uuid, text, text, text),
  public.lrwr_sweep_vectors(uuid),
  public.lrwr_without_vector(uuid, text, text[]),
  public.lrwr_keep_record(uuid, text, text, text, text, text, text, text, text[]),
  public.lrwr_put_record(
    uuid, text, text, text, text, text, text, text, text[], bigint, text,
    integer, text, text
  ),
  public.lrwr_manifest(uuid),
  public.lrwr_changes(uuid, bigint, bigint),
  public.lrwr_missing_vectors(uuid, text, text[]),
  public.lrwr_put_vectors(uuid, text, text),
  public.lrwr_vectors(uuid, text, text[]),
  public.lrwr_put_replies(uuid, text),
  public.lrwr_reply_json(public.lrwr_reply),
  public.lrwr_replies(uuid, text[]),
  public.lrwr_replies_after(uuid, text, integer),
  public.lrwr_thread_marks(uuid),
  public.lrwr_turn_json(public.lrwr_turn),
  public.lrwr_thread_whole(uuid, text),
  public.lrwr_place_deletion(uuid, text, double precision),
  public.lrwr_put_thread(uuid, text)
from public, anon;
grant execute on function
  public.lrwr_new_library(text),
  public.lrwr_libraries(),
  public.lrwr_delete_library(uuid),
  public.lrwr_state(uuid, text, bigint),
  public.lrwr_next_version(uuid),
  public.lrwr_hold_job(uuid, bigint, text, integer),
  public.lrwr_take_record(uuid, text, text, text),
  public.lrwr_sweep_vectors(uuid),
  public.lrwr_without_vector(uuid, text, text[]),
  public.lrwr_keep_record(uuid, text, text, text, text, text, text, text, text[]),
  public.lrwr_put_record(
    uuid, text, text, text, text, text, text, text, text[], bigint, text,
    integer, text, text
  ),
  public.lrwr_manifest(uuid),
  public.lrwr_changes(uuid, bigint, bigint),
  public.lrwr_missing_vectors(uuid, text, text[]),
  public.lrwr_put_vectors(uuid, text, text),
  public.lrwr_vectors(uuid, text, text[]),
  public.lrwr_put_replies(uuid, text),
  public.lrwr_reply_json(public.lrwr_reply),
  public.lrwr_replies(uuid, text[]),
  public.lrwr_replies_after(uuid, text, integer),
  public.lrwr_thread_marks(uuid),
  public.lrwr_turn_json(public.lrwr_turn),
  public.lrwr_thread_whole(uuid, text),
  public.lrwr_place_deletion(uuid, text, double precision),
  public.lrwr_put_thread(uuid, text)
to authenticated;

insert into public.lrwr_migration (number) values (5) on conflict do nothing;
