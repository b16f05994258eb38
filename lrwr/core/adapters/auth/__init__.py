"""Authentication: signing in to a Supabase project, and the session there."""
