-- The format `epub`. A check cannot be changed by SQL, and a new table would cascade:
-- dropping the old one deletes what refers to it. Changing the stored text of the schema
-- is what SQLite's documentation prescribes for checks; no row changes.
pragma writable_schema = on;

update sqlite_schema
set sql = replace(sql, '(''md'', ''docx'', ''txt'')', '(''md'', ''docx'', ''txt'', ''epub'')')
where type = 'table' and name = 'document';

pragma writable_schema = reset;
