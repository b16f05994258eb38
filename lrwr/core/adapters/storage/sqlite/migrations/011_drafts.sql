-- What became of the drafts of scenes: accepted as a file, rejected, or undone. The text
-- is that which the writer decided about; the files in the folder of drafts may change.

create table draft (
  key text primary key,  -- the scene or sheet, and the number of the draft
  state text not null
    check (state in ('accepting', 'accepted', 'rejected', 'undone')),
  -- The language model that wrote it, empty for the writer.
  model text not null,
  -- Path of the file that it is, or was to become, relative to the library.
  file text not null,
  text text not null,
  at real not null
) strict;
