"""Upload and download of a library to and from Supabase (`lrwr push`, `lrwr pull`)."""
