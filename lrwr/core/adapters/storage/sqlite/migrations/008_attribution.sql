-- What the attribution of speakers was made from, so that a run computes only what
-- differs; derived, and made again where it is missing.

-- The signs of a first-person narrator in a document.
create table narration (
  document_id text primary key references document (id) on delete cascade,
  signs text not null,
  crc integer
) strict, without rowid;

-- What the last complete attribution was made from; one row, or none.
create table attribution (
  id integer primary key check (id = 1),
  state text not null,
  crc integer
) strict;
