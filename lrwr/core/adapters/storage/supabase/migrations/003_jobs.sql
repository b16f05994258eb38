-- The queue of work on documents, shared by every machine of a writer.
--
-- A job is claimed by its state, never by the order of numbers: transactions do not end
-- in the order in which their numbers were given. Who claims locks one row and skips
-- those that others hold, so nobody waits and nothing is handed out twice. A claim is a
-- lease; whoever wants to finish must still hold it.

create table if not exists public.lrwr_job (
  id bigint generated always as identity primary key,
  library uuid not null,
  owner uuid not null default auth.uid(),
  kind text not null check (kind in ('process', 'forget')),
  document text not null,
  pipeline text not null check (pipeline in ('a', 'b')),
  state text not null default 'pending'
    check (state in ('pending', 'running', 'complete', 'failed')),
  stage text check (
    stage in ('reading', 'splitting', 'analysing', 'embedding', 'storing')
  ),
  worker text,
  lease_until double precision,
  attempts integer not null default 0,
  error text not null default '',
  hint text not null default '',
  created_at double precision not null,
  updated_at double precision not null,
  foreign key (library, owner)
    references public.lrwr_library (id, owner) on delete cascade
);

create unique index if not exists lrwr_job_waiting
  on public.lrwr_job (library, document, pipeline) where state = 'pending';
create index if not exists lrwr_job_running
  on public.lrwr_job (library, document, pipeline) where state = 'running';
create index if not exists lrwr_job_by_state on public.lrwr_job (library, state, id);

do $guard$
begin
  alter table public.lrwr_job enable row level security;
  alter table public.lrwr_job force row level security;
  revoke all on public.lrwr_job from public, anon, authenticated;
  grant select, insert, update, delete on public.lrwr_job to authenticated;
  drop policy if exists lrwr_job_select on public.lrwr_job;
  drop policy if exists lrwr_job_insert on public.lrwr_job;
  drop policy if exists lrwr_job_update on public.lrwr_job;
  drop policy if exists lrwr_job_delete on public.lrwr_job;
  create policy lrwr_job_select on public.lrwr_job
    for select to authenticated using (owner = (select auth.uid()));
  create policy lrwr_job_insert on public.lrwr_job
    for insert to authenticated with check (owner = (select auth.uid()));
  create policy lrwr_job_update on public.lrwr_job
    for update to authenticated
    using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
  create policy lrwr_job_delete on public.lrwr_job
    for delete to authenticated using (owner = (select auth.uid()));
end
$guard$;

-- Queues what JSON says, `[{"kind": …, "document": …, "pipeline": …}]` in that order; returns how many
-- were added. What waits already takes on the kind of the newer order. Of jobs that are
-- over the newest `p_kept` stay.
create or replace function public.lrwr_enqueue(
  p_library uuid, p_orders text, p_kept integer
) returns integer
language plpgsql volatile security invoker set search_path = '' as $$
declare
  moment double precision := public.lrwr_now();
  added integer;
begin
  update public.lrwr_job job set kind = told.one ->> 'kind', updated_at = moment
  from jsonb_array_elements(p_orders::jsonb) as told (one)
  where job.library = p_library and job.state = 'pending'
    and job.document = told.one ->> 'document'
    and job.pipeline = told.one ->> 'pipeline' and job.kind <> told.one ->> 'kind';
  insert into public.lrwr_job (
    library, kind, document, pipeline, created_at, updated_at
  )
  select p_library, one ->> 'kind', one ->> 'document', one ->> 'pipeline', moment,
    moment
  from jsonb_array_elements(p_orders::jsonb) with ordinality as told (one, place)
  order by place
  on conflict do nothing;
  get diagnostics added = row_count;
  delete from public.lrwr_job
  where library = p_library and state in ('complete', 'failed') and id <= (
    select id from public.lrwr_job where library = p_library
    order by id desc offset p_kept limit 1
  );
  return added;
end
$$;

-- Hands the oldest job that waits, or whose lease ran out, to a worker, for `p_lease`
-- seconds: `{"claim": {…} or null, "working": [workers that hold a lease]}`.
--
-- Only jobs on `p_documents` and of `p_pipeline` are handed out; null means any. The
-- leases of the workers in `p_gone` are over. A job that was begun `p_most` times and
-- never finished fails with `p_error` and `p_hint`. What waits for a document that is
-- being worked on waits on.
create or replace function public.lrwr_claim_job(
  p_library uuid, p_worker text, p_lease double precision, p_most integer,
  p_error text, p_hint text, p_documents text[] default null,
  p_pipeline text default null, p_gone text[] default '{}'
) returns jsonb
language plpgsql volatile security invoker set search_path = '' as $$
declare
  moment double precision := public.lrwr_now();
  taken public.lrwr_job;
begin
  update public.lrwr_job set lease_until = 0
  where library = p_library and state = 'running' and worker = any (p_gone);
  update public.lrwr_job
  set state = 'failed', lease_until = null, stage = null, updated_at = moment,
    error = p_error, hint = p_hint
  where id in (
    select id from public.lrwr_job
    where library = p_library and state = 'running' and lease_until < moment
      and attempts >= p_most
    for update skip locked
  );
  update public.lrwr_job
  set state = 'running', worker = p_worker, lease_until = moment + p_lease,
    attempts = attempts + 1, stage = null, updated_at = moment
  where id = (
    select job.id from public.lrwr_job job
    where job.library = p_library
      and (p_documents is null or job.document = any (p_documents))
      and (p_pipeline is null or job.pipeline = p_pipeline)
      and (
        (job.state = 'running' and job.lease_until < moment)
        or (
          job.state = 'pending' and not exists (
            select from public.lrwr_job other
            where other.library = p_library and other.state = 'running'
              and other.document = job.document and other.pipeline = job.pipeline
          )
        )
      )
    order by job.id limit 1
    for update of job skip locked
  )
  returning * into taken;
  return jsonb_build_object(
    'claim', case when taken.id is null then null else jsonb_build_object(
      'id', taken.id, 'kind', taken.kind, 'document', taken.document,
      'pipeline', taken.pipeline, 'attempts', taken.attempts
    ) end,
    'working', (
      select coalesce(jsonb_agg(distinct worker), '[]') from public.lrwr_job
      where library = p_library and state = 'running' and lease_until >= moment
    )
  );
end
$$;

-- Holds on to a job for `p_lease` more seconds; false when it was lost.
create or replace function public.lrwr_renew_job(
  p_job bigint, p_worker text, p_attempt integer, p_lease double precision,
  p_stage text
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
declare
  moment double precision := public.lrwr_now();
begin
  update public.lrwr_job
  set lease_until = moment + p_lease, stage = p_stage, updated_at = moment
  where id = p_job and state = 'running' and worker = p_worker
    and attempts = p_attempt;
  return found;
end
$$;

-- Marks a job failed; false when it was lost.
create or replace function public.lrwr_fail_job(
  p_job bigint, p_worker text, p_attempt integer, p_error text, p_hint text
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  update public.lrwr_job
  set state = 'failed', lease_until = null, updated_at = public.lrwr_now(),
    error = p_error, hint = p_hint
  where id = p_job and state = 'running' and worker = p_worker
    and attempts = p_attempt;
  return found;
end
$$;

-- Marks a job complete; false when it was lost. What a job has made is stored in the
-- transaction that calls this, and taken back where it returns false.
create or replace function public.lrwr_complete_job(
  p_job bigint, p_worker text, p_attempt integer
) returns boolean
language plpgsql volatile security invoker set search_path = '' as $$
begin
  update public.lrwr_job
  set state = 'complete', lease_until = null, stage = null,
    updated_at = public.lrwr_now()
  where id = p_job and state = 'running' and worker = p_worker
    and attempts = p_attempt;
  return found;
end
$$;

-- Jobs, newest first, of one state or, with null, of any.
create or replace function public.lrwr_jobs(
  p_library uuid, p_limit integer, p_state text default null
) returns jsonb language sql stable security invoker set search_path = '' as $$
  select coalesce(jsonb_agg(to_jsonb(newest) order by id desc), '[]') from (
    select id, kind, document, pipeline, state, stage, attempts, error, hint,
      created_at, updated_at
    from public.lrwr_job
    where library = p_library and (p_state is null or state = p_state)
    order by id desc limit p_limit
  ) newest
$$;

-- Functions are for whoever is signed in, and do no more than they may. They are named
-- one by one: a project may have functions of its own whose names begin alike.
revoke execute on function
  public.lrwr_enqueue(uuid, text, integer),
  public.lrwr_claim_job(
    uuid, text, double precision, integer, text, text, text[], text, text[]
  ),
  public.lrwr_renew_job(bigint, text, integer, double precision, text),
  public.lrwr_fail_job(bigint, text, integer, text, text),
  public.lrwr_complete_job(bigint, text, integer),
  public.lrwr_jobs(uuid, integer, text)
from public, anon;
grant execute on function
  public.lrwr_enqueue(uuid, text, integer),
  public.lrwr_claim_job(
    uuid, text, double precision, integer, text, text, text[], text, text[]
  ),
  public.lrwr_renew_job(bigint, text, integer, double precision, text),
  public.lrwr_fail_job(bigint, text, integer, text, text),
  public.lrwr_complete_job(bigint, text, integer),
  public.lrwr_jobs(uuid, integer, text)
to authenticated;

insert into public.lrwr_migration (number) values (3) on conflict do nothing;
