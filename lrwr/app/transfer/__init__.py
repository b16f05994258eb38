"""Moving a library between this machine and a Supabase project, either way."""
