-- The library's first schema. Times are seconds since 1970, UTC.
-- Long columns stand last in a row, so that reading the others skips them.

create table library (
  id text primary key,
  created real not null,
  generation integer not null default 0,
  pruned integer not null default 0
) strict;

insert into library (id, created) values (
  lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2))
    || '-4' || substr(hex(randomblob(2)), 2)
    || '-' || substr('89ab', 1 + abs(random() % 4), 1) || substr(hex(randomblob(2)), 2)
    || '-' || hex(randomblob(6))
  ),
  (julianday('now') - 2440587.5) * 86400.0
);

create table document (
  id text primary key,
  format text not null check (format in ('md', 'docx', 'txt')),
  type text not null
    check (type in ('scene', 'character', 'setting', 'worldbuilding')),
  title text not null,
  order_hint real,
  words integer not null,
  updated_at real not null,
  warnings text not null check (json_valid(warnings)),
  chapters text not null check (json_valid(chapters)),
  -- first characters and numbers of a .docx's paragraphs; empty where lines do
  paragraphs text not null,
  text text not null
) strict;

-- What each pipeline has read; written last, so that a crash repeats work.
create table processed (
  document_id text not null references document (id) on delete cascade,
  pipeline text not null check (pipeline in ('a', 'b')),
  revision text not null,
  content text not null,
  recipe text not null,
  primary key (document_id, pipeline)
) strict, without rowid;

create table chunk (
  n integer primary key,
  id text not null unique,
  document_id text not null references document (id) on delete cascade,
  pipeline text not null check (pipeline in ('a', 'b')),
  ordinal integer not null,
  char_start integer not null,
  char_end integer not null,
  line_first integer not null,
  line_last integer not null,
  chapter integer not null,
  scene integer not null,
  kind text not null check (kind in ('prose', 'note')),
  tokens integer not null,
  space text not null,
  text_hash text not null,
  text text not null
) strict;

create index chunk_by_document on chunk (document_id, pipeline);
create index chunk_by_space on chunk (pipeline, space);
create index chunk_by_text on chunk (text_hash);

-- One vector for each text and space, shared by every chunk that says the same.
create table embedding (
  space text not null,
  text_hash text not null,
  vector blob not null check (length(vector) % 4 = 0),
  primary key (space, text_hash)
) strict;

-- Vectors that lost a chunk: swept later, so that moved text keeps its vector.
create table orphan (
  space text not null,
  text_hash text not null,
  since real not null,
  primary key (space, text_hash)
) strict, without rowid;

-- The one ordered feed that every index follows; only triggers write it.
create table change (
  seq integer primary key autoincrement,
  op text not null check (op in ('upsert', 'delete')),
  chunk_id text not null,
  pipeline text not null
) strict;

create trigger chunk_feed_insert after insert on chunk begin
  insert into change (op, chunk_id, pipeline) values ('upsert', new.id, new.pipeline);
end;

create trigger chunk_feed_delete after delete on chunk begin
  insert into change (op, chunk_id, pipeline) values ('delete', old.id, old.pipeline);
end;

create trigger chunk_feed_update
after update of document_id, char_end, kind, space on chunk
when old.document_id <> new.document_id or old.char_end <> new.char_end
  or old.kind <> new.kind or old.space <> new.space
begin
  insert into change (op, chunk_id, pipeline) values ('upsert', new.id, new.pipeline);
end;

-- Words. One index a pipeline, so that one's words do not weigh on the other's.
create view chunk_words_a as select n, text from chunk where pipeline = 'a';

create virtual table chunk_fts_a using fts5(
  text, content = 'chunk_words_a', content_rowid = 'n',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

create trigger chunk_fts_a_insert after insert on chunk when new.pipeline = 'a' begin
  insert into chunk_fts_a (rowid, text) values (new.n, new.text);
end;

create trigger chunk_fts_a_delete after delete on chunk when old.pipeline = 'a' begin
  insert into chunk_fts_a (chunk_fts_a, rowid, text) values ('delete', old.n, old.text);
end;

create trigger chunk_fts_a_update after update of text on chunk
when new.pipeline = 'a' and old.text <> new.text
begin
  insert into chunk_fts_a (chunk_fts_a, rowid, text) values ('delete', old.n, old.text);
  insert into chunk_fts_a (rowid, text) values (new.n, new.text);
end;

create table job (
  id integer primary key autoincrement,
  kind text not null check (kind in ('process', 'forget')),
  document_id text not null,
  pipeline text not null check (pipeline in ('a', 'b')),
  state text not null default 'pending'
    check (state in ('pending', 'running', 'complete', 'failed')),
  stage text check (stage in ('reading', 'splitting', 'embedding', 'storing')),
  worker text,
  lease_until real,
  attempts integer not null default 0,
  error text not null default '',
  hint text not null default '',
  created_at real not null,
  updated_at real not null
) strict;

create unique index job_waiting on job (document_id, pipeline) where state = 'pending';
create index job_running on job (document_id, pipeline) where state = 'running';
create index job_by_state on job (state, id);
