-- Replies of language models while scenes are drafted. A reply is stored before it is
-- used, so that repeating a command after a crash continues and pays for nothing twice.

create table draft_step (
  key text primary key,  -- a hash of everything that the reply depends on
  scene text not null,   -- the id of the scene, or the part of the plan
  step text not null,    -- such as 'write' or 'revise'; 'proposal' for a file
  model text not null,
  reply text not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  at real not null
) strict;
