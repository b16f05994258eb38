-- Token states of passages, from which search reranks without running the model. They
-- belong to the text whose embedding has the same key, and are deleted with it.
-- `version` is that of the projection and of the encoding.
create table token_state (
  space text not null,
  text_hash text not null,
  version integer not null,
  states blob not null,
  crc integer,
  primary key (space, text_hash)
) strict;

create trigger embedding_states_delete after delete on embedding begin
  delete from token_state where space = old.space and text_hash = old.text_hash;
end;
