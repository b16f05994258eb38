-- Relation cues are weak signs, not statements: searching facts must not find them.
drop trigger fact_fts_insert;
drop trigger fact_fts_delete;
drop view fact_words;

create view fact_words as
select n, subject, attribute, value from fact
where about not in ('passage', 'relation_cue');

create trigger fact_fts_insert after insert on fact
when new.about not in ('passage', 'relation_cue') begin
  insert into fact_fts (rowid, subject, attribute, value)
  values (new.n, new.subject, new.attribute, new.value);
end;

create trigger fact_fts_delete after delete on fact
when old.about not in ('passage', 'relation_cue') begin
  insert into fact_fts (fact_fts, rowid, subject, attribute, value)
  values ('delete', old.n, old.subject, old.attribute, old.value);
end;
