-- `content` is raised by every change of what the story bible is derived from, never by
-- a question. It tells whether `bible_index` still fits.
alter table library add column content integer not null default 0;

-- The names of the story bible, derived from everything else; one row.
create table bible_index (
  id integer primary key check (id = 1),
  key text not null,
  body text not null,
  crc integer not null
) strict;

create index fact_by_about on fact (about);

create trigger content_document_update after update on document begin
  update library set content = content + 1;
end;
create trigger content_processed_insert after insert on processed begin
  update library set content = content + 1;
end;
create trigger content_processed_update
after update of revision, content, recipe on processed begin
  update library set content = content + 1;
end;
create trigger content_processed_delete after delete on processed begin
  update library set content = content + 1;
end;
create trigger content_woven_insert after insert on woven begin
  update library set content = content + 1;
end;
create trigger content_woven_update after update of revision on woven begin
  update library set content = content + 1;
end;
create trigger content_woven_delete after delete on woven begin
  update library set content = content + 1;
end;
create trigger content_story_insert after insert on story begin
  update library set content = content + 1;
end;
create trigger content_story_update after update of "cast" on story begin
  update library set content = content + 1;
end;
create trigger content_story_delete after delete on story begin
  update library set content = content + 1;
end;
