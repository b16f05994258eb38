-- Checksums of what is stored, so that a changed bit is noticed; null where a row was
-- stored before there were checksums. `row_checksum` in checksums.py computes them.

-- A table of its own, because a column after a long text is slow to read.
create table document_check (
  document_id text primary key references document (id) on delete cascade,
  -- of everything but the text
  outline integer not null,
  text integer not null
) strict, without rowid;

alter table chunk add column crc integer;
alter table embedding add column crc integer;
alter table seam add column crc integer;
alter table reading add column crc integer;
alter table fact add column crc integer;
alter table quotation add column crc integer;
alter table appearance add column crc integer;
alter table first_seen add column crc integer;
alter table story add column crc integer;
alter table reply add column crc integer;
alter table thread add column crc integer;
alter table turn add column crc integer;

-- `rows` is the sum of the checksums of the rows that belong to this one, so that a
-- missing row is noticed.
alter table processed add column crc integer;
alter table processed add column rows integer;
alter table woven add column crc integer;
alter table woven add column rows integer;

-- What has no checksum yet is derived from the manuscript again by the next ingestion.
-- A copy of a library in a project gets its documents from there.
update processed set recipe = recipe || '/unchecked'
where not exists (select 1 from hosted);
