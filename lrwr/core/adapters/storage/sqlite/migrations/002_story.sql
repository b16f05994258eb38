-- Pipeline b: what a passage is indexed with, and what is known of the story.

alter table chunk add column lead text not null default '';
alter table chunk add column heading text not null default '';
-- Who is in the passage, in words to be found by; the cast's, not the document's.
alter table chunk add column names text not null default '';

create view chunk_words_b as
select n, text, lead, heading, names from chunk where pipeline = 'b';

create virtual table chunk_fts_b using fts5(
  text, lead, heading, names, content = 'chunk_words_b', content_rowid = 'n',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

create trigger chunk_fts_b_insert after insert on chunk when new.pipeline = 'b' begin
  insert into chunk_fts_b (rowid, text, lead, heading, names)
  values (new.n, new.text, new.lead, new.heading, new.names);
end;

create trigger chunk_fts_b_delete after delete on chunk when old.pipeline = 'b' begin
  insert into chunk_fts_b (chunk_fts_b, rowid, text, lead, heading, names)
  values ('delete', old.n, old.text, old.lead, old.heading, old.names);
end;

create trigger chunk_fts_b_update
after update of text, lead, heading, names on chunk
when new.pipeline = 'b' and (
  old.text <> new.text or old.lead <> new.lead or old.heading <> new.heading
  or old.names <> new.names
)
begin
  insert into chunk_fts_b (chunk_fts_b, rowid, text, lead, heading, names)
  values ('delete', old.n, old.text, old.lead, old.heading, old.names);
  insert into chunk_fts_b (rowid, text, lead, heading, names)
  values (new.n, new.text, new.lead, new.heading, new.names);
end;

-- Distances between sentences, so that an edit embeds those around it alone.
create table seam (
  document_id text not null references document (id) on delete cascade,
  space text not null,
  key text not null,
  distance real not null,
  primary key (document_id, space, key)
) strict, without rowid;

-- What a document says of names; the cast is made of all of them.
create table reading (
  document_id text primary key references document (id) on delete cascade,
  evidence text not null,
  noted text not null
) strict, without rowid;

create table fact (
  n integer primary key,
  document_id text not null references document (id) on delete cascade,
  about text not null,
  subject text not null,
  field text not null,
  -- What is told of the subject, in words to be found by: "eyes", "element type".
  attribute text not null,
  value text not null,
  keeper text not null,
  certainty text not null,
  char_start integer not null,
  reach integer not null,
  spans text not null check (json_valid(spans)),
  details text not null check (json_valid(details))
) strict;

create index fact_by_document on fact (document_id, char_start);

create view fact_words as
select n, subject, attribute, value from fact where about <> 'passage';

create virtual table fact_fts using fts5(
  subject, attribute, value, content = 'fact_words', content_rowid = 'n',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

create trigger fact_fts_insert after insert on fact when new.about <> 'passage' begin
  insert into fact_fts (rowid, subject, attribute, value)
  values (new.n, new.subject, new.attribute, new.value);
end;

create trigger fact_fts_delete after delete on fact when old.about <> 'passage' begin
  insert into fact_fts (fact_fts, rowid, subject, attribute, value)
  values ('delete', old.n, old.subject, old.attribute, old.value);
end;

-- The cast as it was made last; one row.
create table story (
  id integer primary key check (id = 1),
  "cast" text not null check (json_valid("cast"))
) strict;

-- What a document's quotations and appearances were made from.
create table woven (
  document_id text primary key references document (id) on delete cascade,
  revision text not null
) strict, without rowid;

create table quotation (
  n integer primary key,
  document_id text not null references document (id) on delete cascade,
  char_start integer not null,
  speaker text not null,
  certainty text not null,
  cue text not null,
  addressee text not null,
  addressee_certainty text not null,
  spans text not null check (json_valid(spans)),
  mentions text not null check (json_valid(mentions))
) strict;

create index quotation_by_document on quotation (document_id, char_start);
create index quotation_by_speaker on quotation (speaker);

create table appearance (
  chunk_id text not null references chunk (id) on delete cascade,
  character text not null,
  role text not null check (role in ('speaks', 'hears', 'present', 'mentioned')),
  count integer not null,
  primary key (chunk_id, character, role)
) strict, without rowid;

create index appearance_by_character on appearance (character);

create table first_seen (
  document_id text not null references document (id) on delete cascade,
  character text not null,
  alias text not null,
  char_start integer not null,
  char_end integer not null,
  mentions integer not null,
  primary key (document_id, character, alias)
) strict, without rowid;

-- What a language model said of a text, so that it is never paid for twice.
create table reply (
  key text primary key,
  made real not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  finding text not null check (json_valid(finding))
) strict, without rowid;

-- A job may be busy with more now; a check cannot be changed in place.
create table job_now (
  id integer primary key autoincrement,
  kind text not null check (kind in ('process', 'forget')),
  document_id text not null,
  pipeline text not null check (pipeline in ('a', 'b')),
  state text not null default 'pending'
    check (state in ('pending', 'running', 'complete', 'failed')),
  stage text check (
    stage in ('reading', 'splitting', 'analysing', 'embedding', 'storing')
  ),
  worker text,
  lease_until real,
  attempts integer not null default 0,
  error text not null default '',
  hint text not null default '',
  created_at real not null,
  updated_at real not null
) strict;

insert into job_now select * from job;
drop table job;
alter table job_now rename to job;

create unique index job_waiting on job (document_id, pipeline) where state = 'pending';
create index job_running on job (document_id, pipeline) where state = 'running';
create index job_by_state on job (state, id);
