"""Authentication: signing in to a Supabase project, and its session."""
