"""Records in a Supabase project: PostgreSQL behind row-level security."""
